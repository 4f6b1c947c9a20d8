public import Foundation
internal import FoundationNetworking
internal import OperationNetworkingSystem

// The origins that receive the request serializer's secret fields.
extension OperationManager {
    /// The origins (scheme, host, port) to which the secret fields of a manager's request serializer are
    /// sent: `Authorization`, `Cookie`, `Host`, and those of ``RedirectPolicy/droppedHeaders``, such as
    /// `X-Api-Key`.
    public enum SecretHeaderScope: Hashable, Codable, Sendable {
        /// The origin of the manager's base URL, or all origins if it has none.
        case baseURL
        /// The origins of the manager's base URL, if it has one, and of these URLs. Paths are ignored.
        case baseURLAnd([URL])
        /// All origins.
        case everywhere
    }

    /// The origins to which the secret fields of ``requestSerializer`` are sent. Defaults to
    /// ``SecretHeaderScope/baseURL``. An absolute URL, or a path such as `//other.example/x`, may lead to any
    /// server, and servers send such URLs (`next`, `href`): a request to an origin outside the scope is sent
    /// without the secret fields.
    ///
    /// The scope applies to requests that the manager makes (the verbs, `upload`, forms, batches of
    /// downloads), and to the fields that its serializer adds. The `headers:` of a call are always sent, and
    /// your own `URLRequest` is sent as it is. The `credential` and the `tokenSource` are only used for the
    /// base URL's origin.
    public var secretHeaderScope: SecretHeaderScope {
        get { state.withLock { $0.secretHeaderScope } }
        set { state.change { $0.secretHeaderScope = newValue } }
    }

    /// Makes a request with the manager's serializer: the only place where that happens.
    ///
    /// - Parameters:
    ///   - headers: the caller's fields for this request, which are kept.
    ///   - make: called at once.
    /// - Returns: the request, without the serializer's secrets if its origin is outside the scope.
    /// - Throws: any error of `make`.
    func serialized(
        with headers: [String: String],
        _ make: (any RequestSerializer) throws -> URLRequest
    ) throws -> URLRequest {
        let state = state.withLock { $0 }
        var request = try make(requestSerializer)
        // By the URL of the finished request, which a custom serializer may have changed.
        if let url = request.url, !state.secretHeaderScope.includes(url, base: baseURL) {
            request.removeFields(state.settings.redirectPolicy.fieldsOfOneOrigin, keeping: headers.keys)
        }
        return request
    }
}

extension OperationManager.SecretHeaderScope {
    /// Whether the fields are sent to the origin of `url`.
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
