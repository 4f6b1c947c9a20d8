import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworkingTesting

@testable import OperationNetworking

/// The needs of most tests of authentication: a user, and a server that lets only her in.
///
/// Names are others each time: what is known of an origin outlives the server, and the next one may get its port.
struct Door {
    let alice: Credential
    let bob: Credential
    /// The field of Basic for them.
    let aliceField: String
    let bobField: String

    init() {
        let number = UUID().uuidString
        alice = Credential(user: "alice-\(number)", password: "s3cret")
        bob = Credential(user: "bob-\(number)", password: "h1dden")
        aliceField = Self.basic("alice-\(number)", "s3cret")
        bobField = Self.basic("bob-\(number)", "h1dden")
    }

    /// The field of Basic for a name and a password.
    static func basic(_ user: String, _ password: String) -> String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    /// 401, with these challenges.
    static func closed(_ challenges: String..., body: AnswerBody = "closed") -> Answer {
        var fields = FieldLines()
        for challenge in challenges { fields.append("WWW-Authenticate", challenge) }
        return .respond(401, fields, body: body)
    }

    /// Lets in a request with this `Authorization` field, Alice unless something else is said.
    func server(
        for authorization: String? = nil,
        challenge: String = "Basic realm=\"door\""
    ) throws -> ScriptedServer {
        let authorization = authorization ?? aliceField
        return try ScriptedServer { request in
            request["Authorization"] == authorization
                ? .respond(body: .text("open to \(request.method) \(request.text)")) : Self.closed(challenge)
        }
    }

    func operation(_ url: URL, _ credential: Credential? = nil) -> HTTPRequestOperation {
        operation(URLRequest(url: url), credential)
    }

    func operation(_ request: URLRequest, _ credential: Credential? = nil) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.credential = credential
        return operation
    }
}

extension HTTPRequestOperation {
    /// Runs it to its end; the status of its response, 0 without one.
    func status() async -> Int {
        start()
        _ = try? await value
        return response?.statusCode ?? 0
    }
}

extension ScriptedServer {
    /// The `Authorization` fields of all requests, `-` where there was none.
    var authorizations: [String] { requests.map { $0["Authorization"] ?? "-" } }
}

extension URL {
    /// The same with user and password.
    func with(user: String, password: String?) -> URL {
        var components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        components?.user = user
        components?.password = password
        return components?.url ?? self
    }
}
