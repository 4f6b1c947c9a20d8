import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The fields of a server for one exchange, and users whom only the system knows, with a cache between.
@Suite(.timeLimit(.minutes(1)))
struct CacheAuthenticationTests {
    private let door = Door()

    /// The numbers that came with the nonces, in order; `-` without a proof.
    private func counts(_ server: ScriptedServer) -> [String] {
        server.authorizations.map { DigestServer.parameters(of: $0)?["nc"] ?? "-" }
    }

    /// A nonce for the next request (RFC 7616 §3.5) is news in a 304, and none in a stored response.
    @Test(arguments: [false, true]) func aStoredNonceIsNotTheNextOne(isValidated: Bool) async throws {
        let digest = DigestServer(user: door.alice.user ?? "", password: "s3cret")
        let server = try ScriptedServer { request in
            if let refusal = digest.refusal(of: request) { return refusal }
            let next = ("Authentication-Info", "nextnonce=\"\(digest.makeNonce())\"")
            let isKnown = request.headers["If-None-Match"] != nil
            return .respond(
                isKnown ? 304 : 200,
                FieldLines([("ETag", "\"v1\""), ("Cache-Control", "max-age=60"), next]),
                body: isKnown ? "" : "open"
            )
        }
        let scene = CacheScene(server)
        func fetch(_ path: String) async {
            let operation = await scene.fetch(scene.request(path)) { $0.credential = door.alice }
            #expect(operation.text == "open", "\(path)")
        }
        await fetch("/stored")
        await fetch("/other")
        if isValidated { scene.pass(100) }
        await fetch("/stored")
        await fetch("/last")
        // Each request has the nonce of the one before, and none is refused. The proof of the hit was made,
        // and not sent.
        let first = ["-", "00000001", "00000001"]
        #expect(counts(server) == first + (isValidated ? ["00000001", "00000001"] : ["00000002"]))
    }
}
