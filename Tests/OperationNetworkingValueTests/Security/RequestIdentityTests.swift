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
}
