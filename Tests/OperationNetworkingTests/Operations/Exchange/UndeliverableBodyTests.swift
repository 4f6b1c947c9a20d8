import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A body that cannot be handed over, in a coding that is not known or without an end that is: an error only
/// where the body is wanted.
@Suite(.timeLimit(.minutes(1)))
struct UndeliverableBodyTests {
    private let callbacks = DispatchQueue(label: "callbacks")

    /// The fault of the body.
    enum Fault: String, CaseIterable, Sendable {
        case compress, dcz, awsChunked, charset, malformedLength, conflictingLengths, transferCoding
        /// libcurl ends a transfer at such a line.
        case noNumber, negativeLength, emptyLength

        var fields: FieldLines {
            switch self {
            case .compress: ["Content-Encoding": "compress"]
            case .dcz: ["Content-Encoding": "dcz, gzip"]
            case .awsChunked: ["Content-Encoding": "aws-chunked"]
            case .charset: ["Content-Encoding": "UTF-8"]
            case .malformedLength: ["Content-Length": "5abc"]
            case .conflictingLengths: ["Content-Length": "5, 6"]
            case .transferCoding: ["Transfer-Encoding": "gzip"]
            case .noNumber: ["Content-Length": "abc"]
            case .negativeLength: ["Content-Length": "-1"]
            case .emptyLength: ["Content-Length": ""]
            }
        }

        var isOfCoding: Bool { code == .cannotDecodeContentData }

        var code: URLError.Code {
            switch self {
            case .compress, .dcz, .awsChunked, .charset: .cannotDecodeContentData
            case .malformedLength, .conflictingLengths, .transferCoding, .noNumber, .negativeLength,
                .emptyLength:
                .badServerResponse
            }
        }
    }

    private func head(_ status: Int, _ fault: Fault, _ body: String) -> Answer {
        var lines = "HTTP/1.1 \(status) X\r\nLocation: /there\r\nRetry-After: 0\r\n"
        lines += "WWW-Authenticate: Basic realm=a\r\n"
        for line in fault.fields.lines { lines += "\(line.name): \(line.value)\r\n" }
        if fault.isOfCoding { lines += "Content-Length: \(body.utf8.count)\r\n" }
        return .raw(.text(lines + "\r\n" + body), keepingOpen: true)
    }

    private func operation(_ url: URL) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: URLRequest(url: url, timeoutInterval: 20))
        operation.completionQueue = callbacks
        var policy = RetryPolicy(maximumRetries: 2)
        policy.initialDelay = 0.01
        operation.retryPolicy = policy
        operation.credential = Credential(user: "u", password: "p")
        return operation
    }

    /// Another request follows, which does not need the body of the first one.
    @Test(arguments: [302, 401, 500, 503], Fault.allCases)
    func theStatusDecidesTheNextStep(status: Int, fault: Fault) async throws {
        for body in ["", "abcde"] {
            let server = try ScriptedServer([head(status, fault, body), .respond(body: "fine")])
            let operation = operation(server.url)
            operation.start()
            #expect(try await operation.value as? Data == Data("fine".utf8))
            #expect(server.requests.count == 2)
            // The bytes after such a length belong to no response.
            if !fault.isOfCoding { #expect(server.requests.map(\.connectionNumber) == [1, 2]) }
        }
    }

    @Test(arguments: [403, 404, 418], Fault.allCases)
    func theStatusIsTheError(status: Int, fault: Fault) async throws {
        for body in ["", "abcde"] {
            let server = try ScriptedServer([head(status, fault, body)])
            let operation = operation(server.url)
            operation.start()
            let error = await #expect(throws: (any Error).self) { try await operation.value }
            #expect(error.map { RequestFailure($0).statusCode } == status)
            #expect(operation.response?.statusCode == status)
            #expect((operation.responseData ?? Data()).isEmpty)
        }
    }

    /// Not an empty body, with success.
    @Test(arguments: Fault.allCases)
    func aStatusThatIsAcceptedNeedsItsBody(fault: Fault) async throws {
        let server = try ScriptedServer([head(404, fault, "abcde")])
        let operation = operation(server.url)
        var serializer = HTTPResponseSerializer()
        serializer.acceptableStatusCodes = nil
        operation.responseSerializer = serializer
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == fault.code)
        #expect(operation.response?.statusCode == 404)
    }

    @Test(arguments: Fault.allCases)
    func aSuccessWithSuchABodyIsAnErrorWithItsResponse(fault: Fault) async throws {
        let server = try ScriptedServer([head(200, fault, "abcde")])
        let operation = operation(server.url)
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == fault.code)
        #expect(operation.response?.statusCode == 200)
        #expect((operation.responseData ?? Data()).isEmpty)
    }

    @Test(arguments: Fault.allCases.filter(\.isOfCoding))
    func anEmptyBodyHasNothingToDecode(fault: Fault) async throws {
        let server = try ScriptedServer([head(200, fault, "")])
        let operation = operation(server.url)
        operation.start()
        #expect(try await operation.value as? Data == Data())
    }

    @Test(arguments: [false, true], Fault.allCases)
    func aRedirectIsReportedFirst(isFollowed: Bool, fault: Fault) async throws {
        let server = try ScriptedServer([head(302, fault, "abcde"), .respond(body: "fine")])
        let operation = operation(server.url)
        operation.setRedirect { _, request, _ in isFollowed ? request : nil }
        operation.start()
        let value = try? await operation.value as? Data
        #expect(value == (isFollowed ? Data("fine".utf8) : nil))
        #expect(operation.response?.statusCode == (isFollowed ? 200 : 302))
    }

    /// The bytes of a file are not lost to a response of which no byte can be taken.
    @Test func aFileKeepsWhatItHas() async throws {
        let directory = try TemporaryDirectory()
        let server = try ScriptedServer([
            .respond(200, ["ETag": "\"a\""], body: "0123456789", breakingAfter: 4),
            head(200, .malformedLength, "abcde"),
            head(503, .conflictingLengths, "abcde"),
            .respond(206, ["ETag": "\"a\"", "Content-Range": "bytes 4-9/10"], body: "456789"),
        ])
        let file = directory.file("file")
        // Each try may ask more than once.
        while !FileManager.default.fileExists(atPath: file.path) {
            let download = DownloadOperation(request: URLRequest(url: server.url), to: file)
            download.completionQueue = callbacks
            download.start()
            _ = try? await download.value
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == "0123456789")
        #expect(server.requests.map { $0["Range"] != nil } == [false, true, true, true])
    }

    @Test(arguments: Fault.allCases)
    func aCacheKeepsNothingOfIt(fault: Fault) async throws {
        let cache = ResponseCache(memoryCapacity: 1 << 20, diskCapacity: 0, directory: nil)
        let server = try ScriptedServer { _ in
            var lines = "HTTP/1.1 200 X\r\nCache-Control: max-age=100\r\n"
            for line in fault.fields.lines { lines += "\(line.name): \(line.value)\r\n" }
            if fault.isOfCoding { lines += "Content-Length: 5\r\n" }
            return .raw(.text(lines + "\r\nabcde"), keepingOpen: true)
        }
        for _ in 0..<2 {
            let operation = operation(server.url)
            operation.cache = cache
            operation.start()
            let error = await #expect(throws: URLError.self) { try await operation.value }
            #expect(error?.code == fault.code && operation.response?.statusCode == 200)
        }
        #expect(server.requests.count == 2)
        #expect(server.requests.allSatisfy { $0["Range"] == nil })
    }

    @Test(arguments: [Fault.compress, .malformedLength])
    func aSessionsTaskHasItsResponse(fault: Fault) async throws {
        let server = try ScriptedServer([
            head(404, fault, "abcde"), head(302, fault, "abcde"),
            .respond(200, ["Content-Type": "application/json"], body: "{}"),
        ])
        let manager = HTTPSessionManager(baseURL: server.url)
        manager.completionQueue = callbacks
        let ends = Recorder<Int?>()
        for count in 1...2 {
            let task = manager.get("a", success: { _, _ in ends.append(nil) }) { task, _ in
                ends.append(task?.response?.statusCode)
            }
            #expect(task != nil)
            _ = try await ends.wait(count: count)
        }
        #expect(ends.elements == [404, nil])
    }

    /// The end of such a body cannot be proven over HTTP/2, and need not be.
    @Test(arguments: [302, 404, 503])
    func aStatusOverHTTP2NeedsNoProof(status: Int) async throws {
        let server = try HTTP2Server([.respond(status, ["location": "/there"], body: "abcde")])
        let transfer = TestTransfer(.plain(server.url, version: .http2PriorKnowledge)).start()
        let end = try await transfer.end()
        #expect(end.operationError == nil, "\(end)")
        #expect(transfer.statuses == [status] && !end.measured.isEndProven)
    }
}
