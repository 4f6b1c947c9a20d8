import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// AFNetworking's tests of the web view, replayed against httpbin by their names (`Tests/AFNetworking.md`), and ours,
/// whose server holds its answers or chooses their fields.
@Suite(.timeLimit(.minutes(1))) struct ContentBindingTests {
    private final class View: Sendable {
        let shown = Recorder<String>()
    }

    private let queue = DispatchQueue(label: "ContentBindingTests")
    private let view = View()
    private let manager = OperationManager()
    private let failures = Recorder<String>()

    init() {
        manager.completionQueue = queue
    }

    private var binding: ContentBinding<View> {
        ContentBinding(to: view, manager: manager) { view, content in
            let parts = [content.mimeType, content.textEncodingName, content.baseURL?.path]
            let text = String(decoding: content.data, as: UTF8.self)
            view.shown.append((parts.map { $0 ?? "-" } + [text]).joined(separator: " "))
        }
    }

    @Test func aPageIsShownWithWhatItSaysOfItself() async throws {
        let server = try ScriptedServer(
            routes: [
                "/from": [.redirect(to: "/a/page")],
                "/a/page": [.respond(200, ["Content-Type": "text/html; charset=iso-8859-1"], body: "<p>")],
            ]
        )
        let binding = binding
        let bytes = Recorder<Int64>()
        binding.load(
            URLRequest(url: server.url(path: "/from")),
            progress: { _, total, _ in bytes.append(total) }
        )
        #expect(try await view.shown.wait() == ["text/html iso-8859-1 /a/page <p>"])
        #expect(bytes.elements.last == 3)
    }

    /// As the spelling of parameters is no matter (RFC 9110 §5.6.6).
    @Test(arguments: [
        ("text/html; Charset=ISO-8859-1", "text/html iso-8859-1"),
        ("Text/HTML ;CHARSET=\"utf-8\"", "text/html utf-8"), ("text/html ;q=1", "text/html -"),
        (";charset=utf-8", "- -"),
    ])
    func theTypeOfAPageIsReadAsEverywhere(fieldValue: String, parts: String) async throws {
        let server = try ScriptedServer([.respond(200, ["Content-Type": fieldValue], body: "<p>")])
        let binding = binding
        let operation = binding.load(URLRequest(url: server.url(path: "/page")))
        #expect(try await view.shown.wait() == ["\(parts) /page <p>"])
        #expect(operation.response?.statusCode == 200)
    }

    @Test func theClosureMayChangeThePage() async throws {
        let server = try ScriptedServer([.respond(200, ["Content-Type": "text/plain"], body: "as sent")])
        let binding = binding
        binding.load(
            URLRequest(url: server.url),
            success: { response, content in
                let text = "changed \(response?.statusCode ?? 0)"
                return LoadedContent(data: Data(text.utf8), mimeType: content.mimeType)
            }
        )
        #expect(try await view.shown.wait() == ["text/plain - - changed 200"])
    }

    @Test func onlyTheLastPageIsShown() async throws {
        let gate = Gate()
        let server = try ScriptedServer(
            routes: [
                "/slow": [.respond(body: "slow").held(by: gate)],
                "/fast": [.respond(body: "fast")],
            ]
        )
        let binding = binding
        let slow = binding.load(
            URLRequest(url: server.url(path: "/slow")),
            failure: { [failures] error in failures.append("\(error)") }
        )
        try await gate.waitForArrivals()
        binding.load(URLRequest(url: server.url(path: "/fast")))
        #expect(try await view.shown.wait() == ["- - /fast fast"])
        gate.open()
        _ = try? await slow.value
        queue.sync {}
        #expect(view.shown.elements.count == 1 && failures.elements.isEmpty && slow.isCancelled)
    }

    @Test func aFailureIsTold() async throws {
        let server = try ScriptedServer([.respond(404)])
        let binding = binding
        let operation = binding.load(
            URLRequest(url: server.url),
            failure: { [failures] _ in failures.append("failed") }
        )
        #expect(try await failures.wait() == ["failed"])
        _ = try? await operation.value
        #expect(view.shown.elements.isEmpty && !binding.isLoading)
    }

    @Test func aBindingThatIsReleasedCancels() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "late").held(by: gate)])
        var binding: ContentBinding<View>? = binding
        let operation = try #require(binding).load(URLRequest(url: server.url))
        try await gate.waitForArrivals()
        binding = nil
        _ = try? await operation.value
        gate.open()
        #expect(operation.isCancelled && view.shown.elements.isEmpty)
    }

    // MARK: - AFNetworking's

    private func request(_ path: String) throws -> URLRequest {
        URLRequest(url: try #require(RealServers.httpbin).appendingPathComponent(path))
    }

    @Test(
        "testNilProgressDoesNotCauseCrash, testNUllProgressDoesNotCauseCrash",
        .enabled(if: RealServers.httpbin != nil)
    )
    func withoutProgress() async throws {
        let binding = binding
        binding.load(try request("html"), success: { _, content in content })
        let shown = try #require(try await view.shown.wait().first)
        #expect(shown.hasPrefix("text/html utf-8 /html ") && shown.contains("Moby-Dick"))
    }

    @Test(.enabled(if: RealServers.httpbin != nil)) func testProgressIsSet() async throws {
        let (binding, counts) = (binding, Recorder<[Int64]>())
        binding.load(try request("bytes/100000"), progress: { counts.append([$1, $2]) })
        try await view.shown.wait()
        #expect(counts.elements.last == [100_000, 100_000])
    }

    @Test(.enabled(if: RealServers.httpbin != nil)) func testRequestWithCustomHeaders() async throws {
        var request = try request("headers")
        request.setValue("Custom-Header-Value", forHTTPHeaderField: "Custom-Header-Field")
        let binding = binding
        binding.load(request, success: { _, content in content })
        let shown = try #require(try await view.shown.wait().first)
        #expect(shown.contains(#""Custom-Header-Field": "Custom-Header-Value""#))
    }
}
