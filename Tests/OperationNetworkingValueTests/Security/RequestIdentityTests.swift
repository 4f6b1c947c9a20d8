import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct RequestIdentityTests {
    @Test func aPasswordIsTheSameByWhicheverWayItComes() {
        func digest(_ fields: HeaderFields, _ credential: Credential? = nil) -> String? {
            RequestIdentity(fields, credential, secretFields: []).digest
        }
        // alice:x
        let field = digest(["Authorization": "Basic YWxpY2U6eA=="])
        #expect(field == digest([:], Credential(user: "alice", password: "x")))
        #expect(field != digest([:], Credential(user: "alice", password: "y")))
        // What looks like it in another field is that field's value.
        #expect(field != digest(["X-Authorization": "Basic YWxpY2U6eA=="]))
        #expect(
            digest(["X-Auth-Token": "Basic YWxpY2U6eA=="]) != digest(["X-Api-Key": "Basic YWxpY2U6eA=="])
        )
    }

    @Test func credentialsAreComparedWhole() {
        func digest(_ fields: HeaderFields, _ credential: Credential? = nil) -> String? {
            var request = TransferRequest.plain(URL(fileURLWithPath: "/"), fields: fields)
            request.credential = credential
            return CacheRequest(request).identity
        }
        let digests = [
            digest([:]), digest(["Authorization": "Basic YTpi"]), digest(["Authorization": "Basic YTpj"]),
            digest(["Authorization": "x"], Credential(user: "a", password: "d")),
            digest(["Authorization": "x"], Credential(user: "a", password: "e")),
            digest(["Authorization": "x"], Credential(bearerToken: "b")), digest(["Cookie": "user=a"]),
            digest(["Cookie": "user=b"]),
        ]
        #expect(Set(digests).count == digests.count && digests[0] == nil)
        let one = digest(["Authorization": "Digest nonce=1"], Credential(user: "a", password: "b"))
        #expect(one == digest(["Authorization": "Digest nonce=2"], Credential(user: "a", password: "b")))
        #expect(digests.allSatisfy { $0?.contains("YTpi") != true })
    }
}
