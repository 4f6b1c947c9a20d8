import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

/// The old names mean what the new ones do, until 1.0.
@Suite(.timeLimit(.minutes(1)))
struct OldNamesTests {
    @Test func oldNamesMeanTheSame() async throws {
        let names: any OldNames = Callers()
        try await names.call()
    }
}

/// Calls what is deprecated without a warning.
private protocol OldNames {
    func call() async throws
}

private struct Callers: OldNames {
    @available(*, deprecated)
    func call() async throws {
        var options = DownloadBatch.Options()
        options.maximumAtOnce = 3
        options.maximumPerHost = 2
        #expect(options.maximumActiveDownloads == 3 && options.maximumActiveDownloadsPerHost == 2)

        let server = try ScriptedServer([.respond(body: "ok")])
        let callbacks = DispatchQueue(label: "callbacks")
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.responseSerializer = HTTPResponseSerializer()
        let heard = Recorder<String>()
        let batch = OperationBatch(
            [operation],
            completionQueue: callbacks,
            onProgress: { finished, total in heard.append("\(finished) of \(total)") },
            onCompletion: { members in heard.append("all \(members.count)") }
        )
        batch.add(to: TransferQueue())
        #expect(try await heard.wait(count: 2) == ["1 of 1", "all 1"])
        let ended = OperationBatch(
            [operation],
            completionQueue: callbacks,
            onCompletion: { _ in heard.append("ended") }
        )
        #expect(try await heard.wait(count: 3).last == "ended")
        withExtendedLifetime(ended) {}
        #expect(operation.transferMetrics.count == 1 && operation.metricsOfEachTransfer.count == 1)

        let manager = OperationManager(baseURL: server.url)
        manager.secretFieldScope = .everywhere
        #expect(manager.secretHeaderScope == .everywhere)
        manager.completionQueue = callbacks
        let events = Recorder<Bool>()
        let folder = try TemporaryDirectory()
        let downloads = try manager.downloads(
            [DownloadItem(url: server.url, destination: folder.file("a"))],
            onEvent: { _ in events.append(true) }
        )
        #expect(await downloads.results().count == 1)
        #expect(try await events.wait() == [true])
        let session = HTTPSessionManager()
        session.secretFieldScope = .everywhere
        #expect(session.secretHeaderScope == .everywhere)

        let cache = ResponseCache(memoryCapacity: 1 << 20, diskCapacity: 0, directory: nil)
        cache.removeAll()
        let source = BodySource.stream(making: { InputStream(data: Data("x".utf8)) })
        #expect(source.isRepeatable)
        var representation = Representation(.text("x"), fields: ["X-A": "1"])
        #expect(representation.headers["X-A"] == "1")
        representation.fields = [:]
        #expect(representation.headers["X-A"] == nil)
        let error = RequestSerializationError.timeoutNotSupported(serializer: "A")
        #expect(error == .settingNotSupported("timeoutInterval", serializer: "A"))
    }
}
