import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// nghttpd, which has no HTTP/1.1: what may be held is asked for over HTTP/1.1 elsewhere.
@Suite(
    .serialized,
    .timeLimit(.minutes(1)),
    .enabled(if: RealServers.nghttpd != nil && RealServers.authorities != nil)
)
struct HTTP2OnlyTests {
    private let server: URL
    private let directory: TemporaryDirectory

    init() throws {
        server = try #require(RealServers.nghttpd)
        directory = try TemporaryDirectory()
    }

    private func prepare(_ operation: HTTPRequestOperation) throws {
        operation.trustAnchors = .file(try #require(RealServers.authorities))
        operation.completionQueue = DispatchQueue(label: "callbacks")
    }

    private func operation(_ request: URLRequest) throws -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: request)
        try prepare(operation)
        return operation
    }

    private func served(_ name: String) throws -> Data {
        try Data(contentsOf: try #require(RealServers.nginxRoot).appendingPathComponent(name))
    }

    /// Of another name each time, as if nothing were known of the server.
    @Test func filesStreamsDownloadsAndBodiesWorkAlsoTheFirstTime() async throws {
        let expected = try served("1m.bin")
        let request = URLRequest(url: server.appendingPathComponent("1m.bin"))
        var post = URLRequest(url: server.appendingPathComponent("1m.bin"))
        post.httpMethod = "POST"
        post.httpBody = Data("0123456789".utf8)
        for round in 0..<2 {
            let posting = try operation(post)
            posting.start()
            #expect(try await posting.value as? Data == Data("0123456789".utf8), "round \(round)")

            let limited = try operation(request)
            limited.downloadLimits = [BandwidthLimit(bytesPerSecond: 50_000_000)]
            limited.start()
            #expect(try await limited.value as? Data == expected)

            let file = directory.file("file-\(round)")
            let toFile = try operation(request)
            toFile.outputFile = file
            toFile.start()
            _ = try await toFile.value
            #expect(try Data(contentsOf: file) == expected)

            let streamed = directory.file("stream-\(round)")
            let toStream = try operation(request)
            toStream.outputStream = OutputStream(url: streamed, append: false)
            toStream.start()
            _ = try await toStream.value
            #expect(try Data(contentsOf: streamed) == expected)

            let downloaded = directory.file("download-\(round)")
            let download = DownloadOperation(request: request, to: downloaded)
            try prepare(download)
            download.start()
            _ = try await download.value
            #expect(try Data(contentsOf: downloaded) == expected)
            for one in [posting, limited, toFile, toStream, download] {
                #expect(one.metrics?.httpVersion == "2")
                #expect(one.metrics?.isEndProven == true)
                if round == 1 { #expect(one.metrics?.transferCount == 1) }
            }
        }
    }

    /// Several that are held read nothing: each has a connection to itself, and the kernel makes the server wait.
    @Test func whatIsHeldKeepsNoMemory() async throws {
        let anchors = TrustAnchors.file(try #require(RealServers.authorities))
        let url = server.appendingPathComponent("100m.bin")
        let first = try operation(URLRequest(url: server.appendingPathComponent("1k.bin")))
        first.outputFile = directory.file("first")
        first.start()
        _ = try await first.value

        let before = try Self.residentBytes()
        let transfers = (0..<4).map { _ in TestTransfer(.plain(url, anchors: anchors, version: .http1)) }
        for transfer in transfers { transfer.hold() }
        for transfer in transfers { transfer.start() }
        for transfer in transfers { try await transfer.headCame.wait() }
        // What could come, comes while another megabyte does.
        let other = try operation(URLRequest(url: server.appendingPathComponent("1m.bin")))
        other.start()
        #expect(try await other.value as? Data == served("1m.bin"))
        let grown = try Self.residentBytes() - before
        #expect(grown < 16 << 20, "\(grown) bytes")
        for transfer in transfers { transfer.stop() }
    }

    /// libcurl 7.88 keeps what came of a held response, and loses it when the transfer is stopped while others
    /// use the connection, unless it is dropped before: LeakSanitizer sees it. The others go on.
    @Test func whatIsHeldAndStoppedHarmsNoOtherStream() async throws {
        let anchors = TrustAnchors.file(try #require(RealServers.authorities))
        let other = TestTransfer(.plain(server.appendingPathComponent("1m.bin"), anchors: anchors))
        other.hold()
        other.start()
        try await other.headCame.wait()
        let large = server.appendingPathComponent("100m.bin")
        for _ in 0..<5 {
            let transfers = (0..<10).map { _ in TestTransfer(.plain(large, anchors: anchors)) }
            for transfer in transfers { transfer.hold() }
            for transfer in transfers { transfer.start() }
            for transfer in transfers { try await transfer.headCame.wait() }
            for transfer in transfers { transfer.stop() }
            try await networkThreadIsDone()
        }
        other.release()
        #expect(try await other.end().operationError == nil)
        #expect(try other.bytes == served("1m.bin"))
    }

    /// In a process of its own, which knows nothing of the server: the first request gets no answer over
    /// HTTP/1.1.
    @Test func theFirstUploadOfAFileArrivesWhole() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            guard let server = RealServers.nghttpd, let authorities = RealServers.authorities else { exit(2) }
            let directory = try TemporaryDirectory()
            let content = PatternBody(seed: 3, length: 1 << 20).data
            let (source, answer) = (directory.file("source"), directory.file("answer"))
            try content.write(to: source)
            var request = URLRequest(url: server.appendingPathComponent("1m.bin"), timeoutInterval: 10)
            request.httpMethod = "PUT"
            request.bodySource = try .file(source)
            let operation = HTTPRequestOperation(request: request)
            operation.trustAnchors = .file(authorities)
            operation.outputFile = answer
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.start()
            _ = try await operation.value
            guard try Data(contentsOf: answer) == content else { exit(3) }
            guard operation.metrics?.httpVersion == "2" else { exit(4) }
            // What the closures hold would be a leak to a sanitizer.
            _exit(0)
        }
    }

    @Test func aGETWithoutProofIsAnErrorAndAPOSTSaysSo() async throws {
        let url = try #require(RealServers.nghttpdNoLength).appendingPathComponent("1k.bin")
        for _ in 0..<2 {
            let get = try operation(URLRequest(url: url))
            get.start()
            _ = try? await get.value
            let error = try #require(get.error as? URLError)
            #expect(error.code == .badServerResponse)
            #expect(error.localizedDescription.contains("no length"))
            #expect(get.responseData == nil || get.responseData?.isEmpty == true)
        }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data("0123456789".utf8)
        let post = try operation(request)
        post.start()
        #expect(try await post.value as? Data == request.httpBody)
        #expect(post.metrics?.isEndProven == false)
        #expect(post.metrics?.httpVersion == "2")
    }

    @Test func trailersProveTheEnd() async throws {
        let url = try #require(RealServers.nghttpdTrailers).appendingPathComponent("1m.bin")
        let file = directory.file("file")
        let operation = try operation(URLRequest(url: url))
        operation.outputFile = file
        operation.start()
        _ = try await operation.value
        #expect(try Data(contentsOf: file) == served("1m.bin"))
        #expect(operation.metrics?.isEndProven == true)
    }

    private static func residentBytes() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
    }
}
