import Foundation
import FoundationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking

/// Users whom only the system knows, with a cache before the network.
@Suite(.timeLimit(.minutes(1)))
struct CacheAuthenticationTests {
    private let door = Door()

    @Test func ticketsAreNobodysInParticular() {
        func asked(_ credential: Credential?) -> CacheRequest {
            var request = TransferRequest.plain(URL(fileURLWithPath: "/"))
            request.credential = credential
            return CacheRequest(request)
        }
        let (one, other) = (asked(.systemTickets), asked(.systemTickets))
        #expect(one.authorization != nil && one.authorization != other.authorization)
        #expect(!one.isAskerKnown && asked(door.alice).isAskerKnown && asked(nil).isAskerKnown)
    }

    /// Another process, or a later kinit(1), may be another user.
    @Test(arguments: ["max-age=60", "max-age=60, private", "max-age=60, public"])
    func whatTicketsHaveOpenedIsNotStored(control: String) {
        var request = CacheScenario.request(authorization: "tickets")
        request.isAskerKnown = false
        #expect(CacheScenario.stored(["Cache-Control": control], for: request) == nil)
        request.isAskerKnown = true
        #expect(CacheScenario.stored(["Cache-Control": control], for: request) != nil)
    }
}
