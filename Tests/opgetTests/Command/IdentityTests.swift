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
        server = try ScriptedServer([.respond(200, body: "alice's"), .respond(200, body: "robert's")])
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
    func theUserHasToBeTheSame(way: String) async throws {
        #expect(try await opget.start(options(way, "alice")).result().code == 0)
        let again = try await opget.start(options(way, "alice")).result()
        #expect(again.code == 0)
        #expect(again.errors.hasPrefix("a: already there"))
        let other = try await opget.start(options(way, "bob")).result()
        #expect(other.code == 11)
        #expect(other.errors.contains("from another URL, with other fields, as another user, or with"))
        #expect(other.errors.contains("; use --overwrite or -N."))
        #expect(try await opget(address).code == 11)
        #expect(try opget.text("a") == "alice's")
        #expect(server.requests.count == 1)
        #expect(try await opget.start(["-N"] + options(way, "bob")).result().code == 0)
        #expect(server.requests.count == 2 && server.requests[1]["If-None-Match"] == nil)
        #expect(try opget.text("a") == "robert's")
    }

    /// A token that was renewed: what came under the old one is kept under a strong tag, and compared.
    @Test(arguments: [(true, true), (true, false), (false, true)])
    func aPartialFileContinuesUnderARenewedToken(hasTag: Bool, isSame: Bool) async throws {
        let body = PatternBody(seed: 1, length: 300_000).data
        let other = PatternBody(seed: 2, length: 300_000).data
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        let tag = hasTag ? Representation.EntityTag.strong("v1") : nil
        let server = try ScriptedServer([
            .representation(Representation(.data(body), entityTag: tag, lastModified: date))
                .breaking(after: .body(150_000)),
            .representation(Representation(.data(isSame ? body : other), entityTag: tag, lastModified: date)),
        ])
        let address = server.url(path: "a").absoluteString
        let old = ["--retry", "0", "-H", "Authorization: Bearer old", address]
        #expect(try await opget.start(old).result().code == 4)
        let renewed = try await opget("-H", "Authorization: Bearer new", address)
        #expect(renewed.code == 0)
        #expect(try Data(contentsOf: opget.directory.file("a")) == (isSame ? body : other))
        #expect(renewed.errors.contains("joined by comparing") == (hasTag && isSame))
        #expect(server.requests.map { $0["Range"] }.contains("bytes=84464-") == hasTag)
        #expect(server.requests.last?["Authorization"] == "Bearer new")
    }

    @Test func anotherPasswordIsTheSameUser() async throws {
        #expect(try await opget("-u", "alice:old", address).code == 0)
        #expect(try await opget("-u", "alice:new", address).code == 0)
        #expect(server.requests.count == 1)
    }
}
