import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The end of an operation from an archive: its error, its response, its cost.
@Suite(.timeLimit(.minutes(1)))
struct RestoredResultsTests {
    private struct User: Codable, Sendable, Equatable {
        var name: String
    }

    /// An error of a serializer of the user's own.
    private struct Refusing: ResponseSerializer {
        let error: any Error

        func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
            throw error
        }
    }

    private func archived(_ operation: ConnectionOperation) throws -> OperationArchive {
        let archive = try #require(operation.archive)
        return try JSONDecoder().decode(OperationArchive.self, from: JSONEncoder().encode(archive))
    }

    private func ended(
        _ server: ScriptedServer,
        with serializer: any ResponseSerializer = HTTPResponseSerializer()
    ) async -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.responseSerializer = serializer
        operation.start()
        _ = try? await operation.value
        return operation
    }

    private static let json = Answer.respond(
        200,
        ["Content-Type": "application/json", "X-Page": "7"],
        body: "{\"name\":\"Ada\"}"
    )

    // MARK: - Failures

    private static let file = URL(fileURLWithPath: "/tmp/a")

    @Test(arguments: [
        FailureRow(URLError(.cancelled), "cancelled"),
        FailureRow(URLError(.timedOut), "timeout temporary"),
        FailureRow(URLError(.notConnectedToInternet), "offline temporary"),
        FailureRow(URLError(.serverCertificateUntrusted), "untrusted"),
        FailureRow(ProxyError.unreachable(proxy: "p", reason: "r"), "temporary"),
        FailureRow(ResumeError.unexpectedStatus(503), "503 temporary"),
        FailureRow(ResumeError.representationChanged, "temporary"),
        FailureRow(DownloadError.destinationExists(file), "mistake"),
        FailureRow(OutputFileError.inUse(file), "temporary"),
        FailureRow(NSError(domain: NSPOSIXErrorDomain, code: Int(ENOSPC)), "temporary"),
        FailureRow(CocoaError(.fileWriteOutOfSpace), "temporary"),
        FailureRow(CocoaError(.fileNoSuchFile), ""),
        FailureRow(NSError(domain: "own", code: 7), ""),
    ])
    func aFailureAnswersAsBefore(row: FailureRow) async throws {
        let server = try ScriptedServer([Self.json])
        let operation = await ended(server, with: Refusing(error: row.error))
        let first = HTTPRequestOperation(archive: try archived(operation))
        // And once more: an archive of what came from one.
        let second = HTTPRequestOperation(archive: try archived(first))
        for copy in [first, second] {
            let error = try #require(copy.error)
            #expect(FailureRow.answers(error) == row.answers)
            #expect((error as NSError).domain == (row.error as NSError).domain)
            #expect((error as NSError).code == (row.error as NSError).code)
            #expect(copy.failure?.code == RequestFailure(row.error).code)
        }
    }

    @Test(arguments: [(404, false), (503, true)])
    func aRefusedStatusIsRestored(status: Int, isTemporary: Bool) async throws {
        let server = try ScriptedServer([
            .respond(status, ["Content-Type": "application/json"], body: "{\"why\":\"so\"}")
        ])
        // One that no archive keeps, and one that says why.
        let plain = await ended(server, with: DecodableResponseSerializer(User.self))
        let copy = HTTPRequestOperation(archive: try archived(plain))
        let error = try #require(copy.error as? ResponseSerializationError)
        #expect(error.reason == .unacceptableStatusCode(status))
        #expect(error.response?.statusCode == status && error.data == copy.responseData)
        #expect(copy.failure?.statusCode == status && copy.failure?.isTemporary == isTemporary)

        let kept = HTTPRequestOperation(
            archive: try archived(plain),
            responseSerializer: JSONResponseSerializer()
        )
        #expect(kept.failure?.statusCode == status)
        #expect((kept.responseObject as? [String: any Sendable])?["why"] as? String == "so")
    }

    @Test func anErrorThatAnotherSerializerWouldNotMakeStays() async throws {
        let server = try ScriptedServer([.respond(200, ["Content-Type": "text/html"], body: "{}")])
        let operation = await ended(server, with: DecodableResponseSerializer(User.self))
        let copy = HTTPRequestOperation(
            archive: try archived(operation),
            responseSerializer: HTTPResponseSerializer()
        )
        #expect(copy.error != nil && copy.responseObject == nil)
    }

    // MARK: - Responses

    @Test func aResponseIsRestoredWithItsMetrics() async throws {
        let server = try ScriptedServer([Self.json])
        let operation = await ended(server)
        let copy = HTTPRequestOperation(archive: try archived(operation))
        let response = try await copy.response(as: Data.self)
        #expect(response.value == Data("{\"name\":\"Ada\"}".utf8) && response.data == response.value)
        #expect(response.statusCode == 200 && response.value(forHTTPHeaderField: "x-page") == "7")
        #expect(response.metrics == operation.metrics && response.metrics.transferCount == 1)
    }

    @Test func aTypedResponseNeedsItsSerializer() async throws {
        let server = try ScriptedServer([Self.json])
        let serializer = DecodableResponseSerializer(User.self)
        let operation = await ended(server, with: serializer)
        #expect(try await operation.value(as: User.self) == User(name: "Ada"))
        let archive = try archived(operation)

        let copy = HTTPRequestOperation(archive: archive, responseSerializer: serializer)
        let response = try await copy.response(as: User.self)
        #expect(response.value == User(name: "Ada") && response.statusCode == 200)

        let bare = HTTPRequestOperation(archive: archive)
        #expect(try await bare.value(as: Data.self) == Data("{\"name\":\"Ada\"}".utf8))
        #expect(try await bare.response(as: Data.self).statusCode == 200)
        let error = try await #require(throws: ResponseSerializationError.self) {
            try await bare.response(as: User.self)
        }
        #expect(error.description.contains("init(archive:responseSerializer:)"))
        #expect(error.response?.statusCode == 200)
    }

    // MARK: - Requests and dependencies

    @Test func whatTheRequestSaysOfCookiesAndCachesIsRestored() throws {
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let plain = ConnectionOperation(archive: try archived(ConnectionOperation(request: .init(url: url))))
        #expect(plain.request.httpShouldHandleCookies && plain.request.cachePolicy == .useProtocolCachePolicy)
        for policy in [URLRequest.CachePolicy.reloadIgnoringLocalCacheData, .returnCacheDataDontLoad] {
            var request = URLRequest(url: url, cachePolicy: policy)
            request.httpShouldHandleCookies = false
            let copy = ConnectionOperation(archive: try archived(ConnectionOperation(request: request)))
            #expect(!copy.request.httpShouldHandleCookies && copy.request.cachePolicy == policy)
        }
    }

    @Test func noOtherOperationWaitsForOneThatHadEnded() async throws {
        let server = try ScriptedServer([.respond(body: "four"), .respond(body: "five")])
        let restored = HTTPRequestOperation(archive: try archived(await ended(server)))
        let dependent = HTTPRequestOperation(request: URLRequest(url: server.url))
        dependent.addDependency(restored)
        let queue = TransferQueue()
        queue.addOperation(dependent)
        #expect(try await dependent.value as? Data == Data("five".utf8))
        // One of another class waits until it is started, or added to a queue.
        let ran = Gate()
        let other = BlockOperation { ran.open() }
        other.addDependency(restored)
        queue.addOperation(other)
        #expect(!other.isReady)
        restored.start()
        try await ran.wait()
        #expect(restored.responseString == "four" && server.requests.count == 2)
    }

    /// A serializer that no archive keeps, and that takes what the usual one refuses.
    private struct Taking: TransferResponseSerializer {
        let seen: Recorder<Int>

        func responseObject(for transfer: ReceivedTransfer) throws -> (any Sendable)? {
            seen.append(transfer.metrics?.transferCount ?? 0)
            return transfer.data
        }
    }

    @Test func aSuccessStaysOneInASecondArchive() async throws {
        let server = try ScriptedServer([.respond(404, body: "four")])
        let seen = Recorder<Int>()
        let operation = await ended(server, with: Taking(seen: seen))
        #expect(operation.error == nil)
        let first = HTTPRequestOperation(archive: try archived(operation))
        let second = HTTPRequestOperation(archive: try archived(first))
        #expect(first.error == nil && second.error == nil && second.responseString == "four")
        // The one that is given sees the cost that the archive has.
        let third = HTTPRequestOperation(
            archive: try archived(second),
            responseSerializer: Taking(seen: seen)
        )
        #expect(third.responseObject as? Data == Data("four".utf8))
        #expect(seen.elements == [1, 1])
    }
}
