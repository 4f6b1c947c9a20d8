import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

/// The old names mean what the new ones do, until 1.0.
@Suite(.timeLimit(.minutes(1)))
struct OldNamesTests {
    private let names: any OldNames = Callers()

    @Test func oldNamesMeanTheSame() async throws {
        try await names.call()
    }

    @Test func oldNamesOfDownloadsMeanTheSame() async throws {
        try await names.download()
    }

    @Test func oldNamesOfValuesMeanTheSame() throws {
        try names.makeValues()
    }

    @Test func oldNamesOfAnswersMeanTheSame() async throws {
        try await names.answer()
    }
}

/// Calls what is deprecated without a warning.
private protocol OldNames {
    func call() async throws
    func download() async throws
    func makeValues() throws
    func answer() async throws
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
        let outer = OperationBatch(
            [batch, ended],
            completionQueue: callbacks,
            onProgress: { _, _ in },
            onCompletion: { members in heard.append("outer \(members.count)") }
        )
        #expect(try await heard.wait(count: 4).last == "outer 1")
        let outermost = OperationBatch(
            [outer],
            completionQueue: callbacks,
            onCompletion: { members in heard.append("outermost \(members.count)") }
        )
        #expect(try await heard.wait(count: 5).last == "outermost 1")
        withExtendedLifetime((ended, outer, outermost)) {}
        #expect(operation.transferMetrics.count == 1 && operation.metricsOfEachTransfer.count == 1)

        let manager = OperationManager(baseURL: server.url)
        let scope: OperationManager.SecretFieldScope = .everywhere
        manager.secretFieldScope = scope
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

    @available(*, deprecated)
    func download() async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let folder = try TemporaryDirectory()
        let operation = DownloadOperation(request: URLRequest(url: server.url), to: folder.file("a"))
        operation.start()
        _ = try await operation.savedFile
        let file: Download = try #require(operation.download)
        #expect(file == operation.downloadedFile)
        let conditional = DownloadOperation(request: URLRequest(url: server.url), to: folder.file("b"))
        conditional.onlyIfChanged = true
        #expect(conditional.downloadsOnlyIfChanged && conditional.onlyIfChanged)

        let checkpoint = folder.file("b.part.resume")
        #expect(throws: DownloadError.checkpointUnreadable(checkpoint)) {
            try DownloadOperation(resuming: checkpoint, fields: ["X-A": "1"])
        }
        let (manager, journal) = (OperationManager(baseURL: server.url), folder.file("journal"))
        #expect(throws: DownloadBatchError.journalMissing(journal)) {
            try manager.downloads(resuming: journal, onEvent: { _ in })
        }
    }

    @available(*, deprecated)
    func makeValues() throws {
        var redirects = RedirectPolicy()
        redirects.droppedFields = ["X-A"]
        #expect(redirects.droppedHeaders == ["X-A"] && redirects.droppedFields == ["X-A"])
        #expect(RedirectPolicy.defaultDroppedFields == RedirectPolicy.defaultDroppedHeaders)

        var retries = RetryPolicy()
        (retries.longestDelay, retries.longestWait, retries.statuses) = (1, 2, [500])
        #expect(retries.maximumDelay == 1 && retries.maximumWait == 2 && retries.statusCodes == [500])
        #expect(retries.longestDelay == 1 && retries.longestWait == 2 && retries.statuses == [500])

        let certificate = try #require(try TestCertificates.all("wildcard").first)
        #expect(certificate.names("www.wild.localhost") && !certificate.names("other.localhost"))

        var form = try MultipartFormData(boundary: "b")
        form.appendPart(withFormData: Data("x".utf8), name: "a")
        #expect(form.contentLength == form.length && form.length == form.body.length)
        #expect(RequestBodyError.invalidMediaType("x") == .invalidMIMEType("x"))

        var content = LoadedContent(data: Data(), mediaType: "text/html")
        #expect(content.mimeType == "text/html")
        content.mediaType = nil
        #expect(content.mimeType == nil && content.mediaType == nil)
        #expect(ResponseImage.Format.png.mediaType == ResponseImage.Format.png.mimeType)

        var configuration = SessionConfiguration()
        configuration.resourceTimeout = 5
        #expect(configuration.totalTimeout == 5 && configuration.resourceTimeout == 5)

        let cookie = try #require(
            HTTPCookie(properties: [.name: "a", .value: "b", .domain: "example.com", .path: "/"])
        )
        let jar = CookieJar()
        jar.set(cookie)
        #expect(jar.cookies.count == 1)
        jar.delete(cookie)
        #expect(jar.cookies.isEmpty)
    }

    @available(*, deprecated)
    func answer() async throws {
        let server = try ScriptedServer([
            .redirect(to: "/there", status: 301), .respond(body: "four"),
        ])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.start()
        #expect(try await operation.value as? Data == Data("four".utf8))
        #expect(server.requests.map(\.target) == ["/", "/there"])

        let manager = OperationManager(baseURL: URL(string: "https://stubs.example/"))
        let content = StubResponse.content(Data("[1]".utf8), contentType: "application/json", eTag: "\"v1\"")
        manager.stubs = RequestStubs([RequestStub("GET", "/a", content, content, content)])
        let list = DecodableResponseSerializer([Int].self, decoder: { JSONDecoder() })
        let errors = list.decodingErrors(as: [String].self, decoder: { JSONDecoder() })
        let response = try await manager.responses.get("a", with: errors)
        #expect(response.value == [1] && response.value(forHTTPHeaderField: "ETag") == "\"v1\"")
        let text = try PropertyListEncoder().encode([1, 2])
        let lists = DecodableResponseSerializer(
            propertyList: [Int].self,
            decoder: { PropertyListDecoder() }
        )
        let value: [Int] = try lists.value(for: nil, data: text)
        #expect(value == [1, 2])
    }
}
