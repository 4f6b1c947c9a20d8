import Foundation
import OperationNetworkingTesting
import Testing

@testable import opget

/// A file that one user was sent is not another one's.
@Suite(.serialized) struct IdentityTests {
    private let opget: Opget
    private let server: ScriptedServer

    init() throws {
        opget = try Opget()
        server = try ScriptedServer([.respond(200, body: "alice's"), .respond(200, body: "bob's")])
    }

    private var address: String { server.url(path: "a").absoluteString }

    /// The same address with a user.
    private func address(_ user: String) -> String {
        address.replacingOccurrences(of: "http://", with: "http://\(user)@")
    }

    private func options(_ way: String, _ user: String) throws -> [String] {
        switch way {
        case "field": return ["-H", "Authorization: Bearer \(user)", address]
        case "key": return ["-H", "X-Api-Key: \(user)", address]
        case "user": return ["-u", "\(user):secret", address]
        case "netrc":
            try opget.write("machine \(server.url.host ?? "") login \(user) password secret\n", user)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600],
                ofItemAtPath: opget.directory.file(user).path
            )
            return ["--netrc-file", user, address]
        default: return [address("\(user):secret")]
        }
    }

    @Test(arguments: ["field", "key", "user", "netrc", "address"])
    func whoAsksHasToBeTheSame(way: String) async throws {
        #expect(try await opget.start(options(way, "alice")).result().code == 0)
        let again = try await opget.start(options(way, "alice")).result()
        #expect(again.code == 0)
        #expect(again.errors.hasPrefix("a: already there"))
        let other = try await opget.start(options(way, "bob")).result()
        #expect(other.code == 11)
        #expect(other.errors.contains("with other fields or as another user; use --overwrite or -N."))
        #expect(try await opget(address).code == 11)
        #expect(try opget.text("a") == "alice's")
        #expect(server.requests.count == 1)
        #expect(try await opget.start(["-N"] + options(way, "bob")).result().code == 0)
        #expect(server.requests.count == 2 && server.requests[1]["If-None-Match"] == nil)
        #expect(try opget.text("a") == "bob's")
    }

    @Test func anotherPasswordIsTheSameUser() async throws {
        #expect(try await opget("-u", "alice:old", address).code == 0)
        #expect(try await opget("-u", "alice:new", address).code == 0)
        #expect(server.requests.count == 1)
    }
}
