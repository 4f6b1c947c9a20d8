import Dispatch
import Foundation
import FoundationNetworking
import Glibc
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The environment is read once for each process, so each of these is one.
@Suite(.timeLimit(.minutes(1)))
struct ProxyEnvironmentTests {
    @Test func theEnvironmentOfTheProcessNamesTheProxy() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            let proxy = try ScriptedServer { request in .respond(body: "\(request.target)") }
            setenv("http_proxy", "http://127.0.0.1:\(proxy.port)", 1)
            setenv("no_proxy", "other.example", 1)
            let text = try await Asking.text("http://server.example/a")
            #expect(text == "http://server.example/a")
            // It was read already.
            setenv("http_proxy", "http://127.0.0.1:1", 1)
            let again = try await Asking.text("http://server.example/b")
            #expect(again == "http://server.example/b")
        }
    }

    /// libcurl would go by them if it were let.
    @Test func disablingTheProxyOverridesTheEnvironment() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            let server = try ScriptedServer { request in .respond(body: "\(request.target)") }
            for name in ["http_proxy", "all_proxy", "ALL_PROXY"] { setenv(name, "http://127.0.0.1:1", 1) }
            for name in ["no_proxy", "NO_PROXY"] { unsetenv(name) }
            let text = try await Asking.text(server.url(path: "/a").absoluteString, .none)
            #expect(text == "/a")
        }
    }

    @Test func aListOfServersInTheEnvironmentIsNotForAProxyThatIsSet() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            let proxy = try ScriptedServer { request in .respond(body: "\(request.target)") }
            setenv("no_proxy", "*", 1)
            let configuration = ProxyConfiguration.proxy(try Proxy("127.0.0.1:\(proxy.port)"))
            let text = try await Asking.text("http://server.example/a", configuration)
            #expect(text == "http://server.example/a")
        }
    }
}

private enum Asking {
    static func text(_ url: String, _ configuration: ProxyConfiguration = .environment) async throws -> String
    {
        let operation = HTTPRequestOperation(request: URLRequest(url: try #require(URL(string: url))))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.proxyConfiguration = configuration
        operation.start()
        return String(decoding: try await operation.value as? Data ?? Data(), as: UTF8.self)
    }
}
