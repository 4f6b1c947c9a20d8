import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct RequestFailureTests {
    private static let file = URL(fileURLWithPath: "/tmp/a")

    static let rows: [FailureRow] = [
        FailureRow(URLError(.cancelled), "cancelled"),
        FailureRow(CancellationError(), "cancelled"),
        FailureRow(URLError(.timedOut), "timeout temporary"),
        FailureRow(URLError(.notConnectedToInternet), "offline temporary"),
        FailureRow(URLError(.networkConnectionLost), "temporary"),
        FailureRow(URLError(.serverCertificateUntrusted), "untrusted"),
        FailureRow(URLError(.badURL), "mistake"),
        FailureRow(URLError(.badServerResponse), ""),
        FailureRow(
            NSError(domain: NSURLErrorDomain, code: URLError.Code.timedOut.rawValue),
            "timeout temporary"
        ),
        FailureRow(RequestSerializationError.invalidMethod(""), "mistake"),
        FailureRow(RequestAdapterError.bodyAddedOrRemoved, "mistake"),
        FailureRow(RequestBodyError.fileInUse(path: "/a"), "temporary"),
        FailureRow(RequestBodyError.noBodySource, "mistake"),
        FailureRow(StreamError.closed, "mistake"),
        FailureRow(StreamError.inUse, "temporary"),
        FailureRow(ProxyError.unreachable(proxy: "p", reason: "r"), "temporary"),
        FailureRow(ProxyError.malformed(reason: "r"), "mistake"),
        FailureRow(ProxyError.authenticationRequired(proxy: "p"), ""),
        FailureRow(ProxyError.refused(proxy: "p", status: 403), ""),
        FailureRow(ProxyError.refused(proxy: "p", status: 503), "temporary"),
        FailureRow(ResumeError.unexpectedStatus(503), "503 temporary"),
        FailureRow(ResumeError.representationChanged, "temporary"),
        FailureRow(ResumeError.malformedContentRange("x"), ""),
        FailureRow(DownloadError.notEnoughSpace(file, needed: 2, available: 1), "temporary"),
        FailureRow(DownloadError.destinationExists(file), "mistake"),
        FailureRow(DownloadError.tooLarge(file, length: 2), ""),
        FailureRow(DownloadBatchError.journalInUse(file), "temporary"),
        FailureRow(DownloadBatchError.journalExists(file), "mistake"),
        FailureRow(DownloadBatchError.journalUnreadable(file), ""),
        FailureRow(OutputFileError.inUse(file), "temporary"),
        FailureRow(OutputFileError.notAFileURL(file), "mistake"),
        FailureRow(SessionError.invalidated, "mistake"),
        FailureRow(SessionError.fileNotMoved(temporary: file, destination: file, reason: "r"), ""),
        FailureRow(ServerTrustError(host: "h", check: .host, serverTrust: nil, url: file), "untrusted"),
        FailureRow(
            ServerTrustError(host: "h", check: .chain(.expired), serverTrust: nil, url: file),
            "untrusted"
        ),
        FailureRow(ServerTrustError(host: "h", check: .encryption, serverTrust: nil, url: file), "untrusted"),
        FailureRow(CertificateChainFailure.expired, ""),
        FailureRow(CredentialError.colonInUser, "mistake"),
        FailureRow(CredentialError.notUTF8(in: .user), "mistake"),
        FailureRow(CertificateError.noPrivateKey("a"), "mistake"),
        FailureRow(StubError.unmatched(method: "GET", url: nil), "mistake"),
        FailureRow(DigestError.notBase64("?"), "mistake"),
        FailureRow(CookieFileError.notText, ""),
        FailureRow(CompoundResponseSerializer.ChildErrors(errors: []), ""),
        FailureRow(
            EncodingError.invalidValue(1, EncodingError.Context(codingPath: [], debugDescription: "")),
            "mistake"
        ),
        FailureRow(NSError(domain: NSPOSIXErrorDomain, code: Int(ENOSPC)), "temporary"),
        FailureRow(CocoaError(.fileWriteOutOfSpace), "temporary"),
        FailureRow(CocoaError(.fileNoSuchFile), ""),
    ]

    @Test(arguments: rows)
    func answers(row: FailureRow) {
        #expect(FailureRow.answers(row.error) == row.answers)
    }

    /// One list: what an app offers to try again is what a policy tries again.
    @Test func aRetryPolicyRetriesTemporaryFailures() {
        let policy = RetryPolicy()
        #expect(policy.statusCodes == Set((100..<600).filter { FailureTraits.status($0).isTemporary }))
        let known = (-3_000...0).compactMap { URLError.Code(rawValue: $0) }
        #expect(known.count > 40)
        #expect(policy.errorCodes == Set(known.filter { RequestFailure(URLError($0)).isTemporary }))
        #expect(policy.errorCodes.contains(.timedOut) && !policy.errorCodes.contains(.badURL))
    }

    /// A row of the article's table: the names in its first cell, and what its last one says.
    struct Line {
        let names: Set<String>
        let answers: Set<String>
    }

    private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources")

    private static func table() throws -> [Line] {
        let article = sources.appendingPathComponent("OperationNetworking/OperationNetworking.docc/Errors.md")
        let text = try String(contentsOf: article, encoding: .utf8)
        let words = [
            "cancelled", "timeout", "offline", "untrusted", "a status", "temporary", "a mistake", "permanent",
        ]
        return text.matches(of: /\n\| (`[^|]+) \|[^|]+\|([^|]+)\|/).map { row in
            // `Name`, ``Name`` or ``Type/Name``.
            let names = row.output.1.matches(of: /(\w+)`/).map { String($0.output.1) }
            return Line(names: Set(names), answers: Set(words.filter { row.output.2.contains($0) }))
        }
    }

    /// Each public error of the libraries, nested ones too, has a row in the article.
    @Test func everyErrorIsInTheTable() throws {
        var names: Set<String> = []
        for module in ["OperationNetworking", "OperationNetworkingImages", "OperationNetworkingTesting"] {
            let folder = Self.sources.appendingPathComponent(module)
            let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
            for case let file as URL in try #require(files) where file.pathExtension == "swift" {
                let code = try String(contentsOf: file, encoding: .utf8)
                let found = code.matches(of: /\n *public (?:enum|struct) (\w+): (?:\w+, )*Error\b/)
                names.formUnion(found.map { String($0.output.1) })
            }
        }
        #expect(names.isSuperset(of: ["ChildErrors", "ImageDecodingError", "SocketError"]))
        #expect(names.count >= 22, "\(names.sorted())")
        let known = try Self.table().reduce(into: Set()) { $0.formUnion($1.names) }
        #expect(names.subtracting(known).isEmpty)
    }

    /// The last cell of each row of the article says what these errors answer, and no more.
    @Test func theTableSaysTheAnswers() throws {
        // A serializer makes the first; the others are of other modules.
        let elsewhere: Set = [
            "ResponseSerializationError", "ImageDecodingError", "TimeLimitExceeded", "SocketError",
        ]
        let lines = try Self.table().filter { $0.names.isDisjoint(with: elsewhere) }
        #expect(lines.count >= 20)
        for line in lines {
            let errors = Self.rows.filter { line.names.contains(Self.name($0.error)) }
            let answers = errors.map { $0.answers.isEmpty ? "permanent" : $0.answers }
            let said = answers.flatMap { $0.split(separator: " ") }.map { word in
                word == "mistake" ? "a mistake" : Int(word) == nil ? String(word) : "a status"
            }
            #expect(Set(said) == line.answers, "\(line.names.sorted())")
        }
    }

    private static func name(_ error: any Error) -> String {
        (error as NSError).domain == NSURLErrorDomain ? "URLError" : "\(type(of: error))"
    }
}
