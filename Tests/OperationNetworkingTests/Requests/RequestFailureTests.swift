import Foundation
import FoundationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct RequestFailureTests {
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

    @Test(arguments: [(404, "404"), (503, "503 temporary"), (429, "429 temporary"), (401, "401")])
    func aStatusIsANumber(status: Int, answers: String) async throws {
        let server = try ScriptedServer([.respond(status, ["Content-Type": "text/html"], body: "<p>")])
        let manager = OperationManager(baseURL: server.url)
        let error = try await #require(throws: (any Error).self) { try await manager.get("a") }
        #expect(FailureRow.answers(error) == answers)
        #expect(RequestFailure(error).code == nil)
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

    /// A type that no response gives is a mistake; one that another response may give is not.
    @Test func aValueOfATypeThatTheSerializerNeverMakesIsAMistake() async throws {
        struct User: Decodable, Sendable {
            let name: String
        }
        let server = try ScriptedServer { _ in
            .respond(200, ["Content-Type": "application/json"], body: #"{"name": "Ada"}"#)
        }
        let folder = try TemporaryDirectory()
        func failure<Value: Sendable>(
            _ serializer: any ResponseSerializer,
            _ type: Value.Type,
            file: URL? = nil
        ) async throws -> RequestFailure {
            let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
            operation.responseSerializer = serializer
            operation.outputFile = file
            operation.start()
            let error = try await #require(throws: ResponseSerializationError.self) {
                try await operation.value(as: type)
            }
            #expect(error.reason != .unacceptableStatusCode(200))
            return RequestFailure(error)
        }
        #expect(try await failure(JSONResponseSerializer(), User.self).isProgrammingError)
        #expect(try await failure(HTTPResponseSerializer(), String.self).isProgrammingError)
        #expect(try await failure(DecodableResponseSerializer(User.self), Int.self).isProgrammingError)
        let file = folder.file("a")
        #expect(try await failure(HTTPResponseSerializer(), Data.self, file: file).isProgrammingError)
        // A server may answer with a list or a number as well.
        #expect(try await !failure(JSONResponseSerializer(), [Int].self).isProgrammingError)
        #expect(try await !failure(JSONResponseSerializer(), Int.self).isProgrammingError)
        #expect(try await !failure(CompoundResponseSerializer([]), String.self).isProgrammingError)
        let sentence = try await "\(failure(JSONResponseSerializer(), User.self).error)"
        #expect(sentence.contains("as User: JSONResponseSerializer made a Dictionary"), "\(sentence)")
    }

    @Test func anOperationCanBeClassified() async throws {
        let server = try ScriptedServer([.silence])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.timeouts.total = 0.2
        #expect(operation.failure == nil)
        operation.start()
        _ = try? await operation.value
        #expect(operation.failure?.isTimeout == true && operation.failure?.isTemporary == true)
    }

    /// Verbs, values, sessions and downloads end with one error when their task is cancelled.
    @Test func aCancelledTaskThrowsOneErrorEverywhere() async throws {
        let server = try ScriptedServer { _ in .silence }
        let manager = OperationManager(baseURL: server.url)
        let session = HTTPSessionManager(baseURL: server.url)
        let folder = try TemporaryDirectory()
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await manager.get("a") },
            { _ = try await manager.get("a", as: Int.self) },
            { _ = try await manager.response("GET", "a") },
            { _ = try await manager.post("a", parameters: ["a"]) { $0.runLoopModes = [.default] } },
            { _ = try await session.get("a") },
            { _ = try await HTTPRequestOperation(request: URLRequest(url: server.url)).value },
            {
                let download = manager.downloadOperation(
                    for: URLRequest(url: server.url),
                    to: folder.file("a")
                )
                download.start()
                _ = try await download.savedFile
            },
        ]
        manager.requestSerializer = JSONRequestSerializer()
        for call in calls {
            let task = Task { try await call() }
            task.cancel()
            let error = await #expect(throws: (any Error).self) { try await task.value }
            #expect((error as? URLError)?.code == .cancelled)
        }
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
