import Foundation
import OperationNetworkingSystem
import Testing

@Suite(.timeLimit(.minutes(1)))
struct CurlTests {
    @Test func theLibraryIsNewEnough() {
        #expect(
            CurlLibrary.version.compare("7.88", options: .numeric) != .orderedAscending,
            "\(CurlLibrary.version)"
        )
        #expect(CurlLibrary.speaksHTTP2)
    }

    @Test func itsTLSIsOpenSSL() {
        #expect(CurlLibrary.tlsVersion.hasPrefix("OpenSSL/3"), "\(CurlLibrary.tlsVersion)")
    }

    /// Settings for the server's certificate are made through our own libssl: with two in the process they would be
    /// made in the wrong one.
    @Test func thereIsOneLibsslInTheProcess() throws {
        // To its end: a file of /proc does not say how long it is.
        let file = try #require(FileHandle(forReadingAtPath: "/proc/self/maps"))
        let maps = String(decoding: file.readDataToEndOfFile(), as: UTF8.self)
        let paths = maps.split(separator: "\n").compactMap { $0.split(separator: " ").last }
        for library in ["libssl", "libcrypto", "libcurl"] {
            let found = Set(paths.filter { $0.contains("/\(library)") })
            #expect(found.count == 1, "\(library): \(found)")
        }
    }

    @Test func aCodeHasLibcurlsSentence() {
        #expect(CurlError(code: 6).message == CurlError.sentence(for: 6))
        #expect(!CurlError.sentence(for: 6).isEmpty)
        #expect(
            CurlError(code: 6, message: "No such host: a").description == "No such host: a (curl error 6)"
        )
        #expect(CurlError(code: 7).systemError == 0)
    }

    @Test func everyCodeOfThisLibraryHasASentence() {
        #expect(CurlError.codeCount > 98)
        for code in 0..<CurlError.codeCount {
            #expect(!CurlError.sentence(for: code).isEmpty)
        }
        #expect(!CurlError.sentence(for: 10_000).isEmpty)
    }

    @Test func aSystemErrorSaysWhichCallFailedAndWhy() {
        let error = SystemError(2, "open /nowhere")
        #expect(error.reason == "No such file or directory")
        #expect(error.description == "open /nowhere: No such file or directory (errno 2)")
        #expect(!SystemError(99_999, "x").reason.isEmpty)
    }

    @Test func headerTextIsUTF8OrElseLatin1() {
        #expect(String(headerText: Array("grün".utf8).span) == "grün")
        #expect(String(headerText: [0x67, 0x72, 0xfc, 0x6e].span) == "grün")
        #expect(String(headerText: [UInt8]().span) == "")
    }
}
