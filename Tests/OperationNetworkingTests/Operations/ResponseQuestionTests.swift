import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// A body that waits until a closure has allowed its response.
@Suite(.timeLimit(.minutes(1)))
struct ResponseQuestionTests {
    private static let old = PatternBody(seed: 1, length: 200_000)

    /// The server has another version when the operation is resumed, and a pause comes before that one is allowed.
    @Test("S20", arguments: [60_000, 200_000])
    func aPauseBeforeTheAnswerJoinsNoTwoVersions(length: Int) async throws {
        let server = try ScriptedServer(
            serving: Representation(.pattern(Self.old), entityTag: .strong("v1")),
            answers: [.currentRepresentation.stalling(after: .body(60_000)), .currentRepresentation]
        )
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        let asked = Recorder<@Sendable () -> Void>()
        operation.setResponseHandler { _, receive in asked.append(receive) }
        let progress = Recorder<Int64>()
        operation.setDownloadProgress { _, total, _ in progress.append(total) }
        operation.start()
        try await asked.wait()[0]()
        try await eventually { progress.elements.last == 60_000 }
        operation.pause()
        try await server.waitForOpenConnections(0)

        let new = PatternBody(seed: 2, length: length)
        server.setRepresentation(Representation(.pattern(new), entityTag: .strong("v2")))
        operation.resume()
        try await asked.wait(count: 2)
        operation.pause()
        try await networkThreadIsDone()
        operation.resume()
        try await asked.wait(count: 3)[2]()
        _ = try await operation.value
        #expect(operation.responseData == new.data)
        // Of another length it may be the rest, so the whole is requested again (S28).
        let tag = "\"v1\""
        #expect(server.requests.prefix(2).map { $0["If-Range"] } == [nil, tag])
        #expect(server.requests.dropFirst(2).allSatisfy { $0["If-Range"] == nil && $0["Range"] == nil })
    }
}
