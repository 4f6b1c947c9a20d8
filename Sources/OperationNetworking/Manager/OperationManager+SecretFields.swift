public import Foundation
internal import FoundationNetworking
internal import OperationNetworkingSystem

// The scope of the request serializer's secret fields.
extension OperationManager {
    /// The origins (scheme, host, port) that get the secret fields of a manager's request serializer:
    /// `Authorization`, `Cookie`, `Host`, and those of ``RedirectPolicy/droppedHeaders``, such as
    /// `X-Api-Key`.
    public enum SecretHeaderScope: Hashable, Codable, Sendable {
        /// The origin of the manager's base URL; all origins, if it has none.
        case baseURL
        /// The origins of the manager's base URL, if it has one, and of these URLs; their paths do not
        /// matter.
        case baseURLAnd([URL])
        /// All origins.
        case everywhere
    }

    /// The origins that get the secret fields of ``requestSerializer``; ``SecretHeaderScope/baseURL`` unless
    /// something else is set. A whole URL, or a path such as `//other.example/x`, may lead to any server, and
    /// servers send such URLs (`next`, `href`): a request to an origin outside the scope goes without the
    /// secret fields.
    ///
    /// The scope holds for requests that the manager makes (the verbs, `upload`, forms, batches of
    /// downloads), and for the fields that its serializer adds. The `headers:` of a call are always sent, and
    /// a request of your own is sent as it is. The `credential` and the `tokenSource` go to the base URL's
    /// origin only.
    public var secretHeaderScope: SecretHeaderScope {
        get { state.withLock { $0.secretHeaderScope } }
        set { state.change { $0.secretHeaderScope = newValue } }
    }

    /// Makes a request by the manager's serializer: the one place where that happens.
    ///
    /// - Parameters:
    ///   - headers: the fields that the caller has given for this request: they stay.
    ///   - make: called at once.
    /// - Returns: the request, without the serializer's secrets if they are not for its origin.
    /// - Throws: what `make` throws.
    func serialized(
        with headers: [String: String],
        _ make: (any RequestSerializer) throws -> URLRequest
    ) throws -> URLRequest {
        let state = state.withLock { $0 }
        var request = try make(requestSerializer)
        // By the URL of the request that was made: a serializer of your own may have changed it.
        if let url = request.url, !state.secretHeaderScope.includes(url, base: baseURL) {
            request.removeFields(state.settings.redirectPolicy.fieldsOfOneOrigin, keeping: headers.keys)
        }
        return request
    }
}

extension OperationManager.SecretHeaderScope {
    /// Whether the origin of `url` gets the fields.
    func includes(_ url: URL, base: URL?) -> Bool {
        let home = base.map { Origin($0) }
        let target = Origin(url)
        switch self {
        case .baseURL: return home == nil || home == target
        case .baseURLAnd(let others): return home == target || others.contains { Origin($0) == target }
        case .everywhere: return true
        }
    }
}
