import Foundation
import FoundationNetworking
import OperationNetworking
import Testing

@testable import opget

@Suite struct OutcomeTests {
    private static let inOrder: [Outcome] = [
        .signal(2), .usage, .diskFull, .file, .exists, .checksum, .network, .tls, .authorization,
        .wrongAnswer,
        .server,
        .other, .success,
    ]

    @Test func oneOrderDecidesWhichOfTwoIsReported() {
        for (index, first) in Self.inOrder.enumerated() {
            for second in Self.inOrder[index...] {
                #expect(first.combined(with: second) == first)
                #expect(second.combined(with: first) == first)
            }
        }
    }

    @Test func codesAreThoseOfTheTable() {
        #expect(Self.inOrder.map(\.code) == [130, 2, 10, 3, 11, 9, 4, 5, 6, 7, 8, 1, 0])
        #expect(Outcome.closedOutput.code == 141)
        for status in Self.inOrder.dropFirst() {
            #expect(Outcome.table.contains { $0.code == "\(status.code)" })
        }
        // What the help says is the order of precedence, after success.
        let codes = Outcome.table.dropFirst().map(\.code).filter { Int($0) != nil }
        #expect(codes == Self.inOrder.dropFirst().dropLast().map { "\($0.code)" })
    }

    @Test(
        arguments: [
            (.cannotFindHost, .network), (.cannotConnectToHost, .network), (.networkConnectionLost, .network),
            (.timedOut, .network), (.unknown, .network), (.secureConnectionFailed, .tls),
            (.serverCertificateUntrusted, .tls), (.appTransportSecurityRequiresSecureConnection, .tls),
            (.clientCertificateRequired, .tls),
            (.badServerResponse, .wrongAnswer),
            (.cannotDecodeRawData, .wrongAnswer), (.httpTooManyRedirects, .wrongAnswer),
            (.unsupportedURL, .usage),
            (.userAuthenticationRequired, .authorization),
        ] as [(URLError.Code, Outcome)]
    )
    func transportFailuresHaveAClass(code: URLError.Code, expected: Outcome) {
        #expect(Failure(URLError(code)).outcome == expected)
    }

    @Test(
        arguments: [
            (.unreachable(proxy: "p", reason: "x"), .network), (.refused(proxy: "p", status: 502), .network),
            (.authenticationRequired(proxy: "p"), .authorization), (.malformed(reason: "x"), .usage),
            (.unsupported(reason: "x"), .usage),
        ] as [(ProxyError, Outcome)]
    )
    func failuresOfProxiesHaveAClass(error: ProxyError, expected: Outcome) {
        #expect(Failure(error).outcome == expected)
        #expect(Failure(error).description == error.description)
    }

    @Test func failuresOfDownloadsHaveAClass() throws {
        let file = URL(fileURLWithPath: "/f")
        let digest = try FileDigest(text: String(repeating: "0", count: 64))
        #expect(Failure(DownloadError.notEnoughSpace(file, needed: 2, available: 1)).outcome == .diskFull)
        let mismatch = DownloadError.digestMismatch(file, expected: digest, actual: digest)
        #expect(Failure(mismatch).outcome == .checksum)
        #expect(Failure(DownloadError.inUse(file)).outcome == .file)
        #expect(Failure(DownloadError.destinationExists(file)).outcome == .exists)
        #expect(Failure(DownloadError.incomplete(file, received: 1, expected: 2)).outcome == .network)
    }

    @Test func otherFailuresHaveAClass() {
        #expect(Failure(CocoaError(.fileWriteOutOfSpace)).outcome == .diskFull)
        #expect(Failure(CocoaError(.fileWriteNoPermission)).outcome == .file)
        #expect(Failure(NSError(domain: NSPOSIXErrorDomain, code: 5)).outcome == .file)
        #expect(Failure(NSError(domain: NSPOSIXErrorDomain, code: Int(ENOSPC))).outcome == .diskFull)
        #expect(Failure(NSError(domain: NSPOSIXErrorDomain, code: Int(EDQUOT))).outcome == .diskFull)
        #expect(Failure(NSError(domain: NSPOSIXErrorDomain, code: Int(EFBIG))).outcome == .diskFull)
        #expect(Failure(making: FilePath("d"), ENOSPC).outcome == .diskFull)
        #expect(Failure(ResumeError.representationChanged).outcome == .wrongAnswer)
        #expect(Failure(ResumeError.mustStartOver(.resourceChanged)).outcome == .server)
        #expect(Failure(CancellationError()).outcome == .other)
        #expect(Failure(Failure.closedOutput) == .closedOutput)
    }
}
