import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct ConnectTimeoutTests {
    @Test func aConnectionThatIsNotEstablishedTimesOut() async throws {
        let server = try UnreachableServer()
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.timeouts.connect = 0.2
        operation.completionQueue = .global()
        let start = ContinuousClock.now
        operation.start()
        _ = try? await operation.value
        #expect((operation.error as? URLError)?.code == .timedOut)
        #expect((operation.error as? URLError)?.curlCode == 28)
        #expect(ContinuousClock.now - start > .milliseconds(190))
        withExtendedLifetime(server) {}
    }

    @Test func aServerThatConnectsAndThenTakesItsTimeDoesNotTimeOut() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "late").held(by: gate)])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        // Connecting on one machine takes less, and the response comes later.
        operation.timeouts.connect = 5
        operation.completionQueue = .global()
        operation.start()
        try await gate.waitForArrivals()
        gate.open()
        _ = try? await operation.value
        #expect(operation.responseString == "late")
    }

    /// libcurl has a limit of its own, of five minutes, in place of 0.
    @Test(arguments: [0, -1] as [Double]) func aTimeoutOfNothingEndsAtOnce(timeout: Double) async throws {
        let server = try UnreachableServer()
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.timeouts.connect = timeout
        operation.completionQueue = .global()
        operation.start()
        _ = try? await operation.value
        #expect((operation.error as? URLError)?.code == .timedOut)
        #expect((operation.error as? URLError)?.curlCode == 28)
        withExtendedLifetime(server) {}
    }

    @Test(arguments: [1e300, .infinity, .nan] as [Double])
    func invalidTimeoutsAreHarmless(timeout: Double) async throws {
        let server = try ScriptedServer([.respond(body: "x")])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.timeouts.connect = timeout
        operation.completionQueue = .global()
        operation.start()
        _ = try? await operation.value
        #expect(operation.responseString == "x")
    }

    @Test func aCopyHasTheSameTimeout() throws {
        let url = try #require(URL(string: "http://127.0.0.1/"))
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        #expect(operation.timeouts.connect == nil)
        operation.timeouts.connect = 7
        let copy = try #require(operation.copy() as? HTTPRequestOperation)
        #expect(copy.timeouts.connect == 7)
    }
}
