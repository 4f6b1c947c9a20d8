internal import Foundation
internal import FoundationNetworking
internal import OperationNetworking
internal import OperationNetworkingImagesSystem

/// Records the identity and the redirects of an image request. A redirected request may identify a user that
/// the first request does not.
final class ImageRedirectObserver: OperationObserver {
    /// The context when the transfer was created.
    let context: ImageContext?
    private let cookieVersion: Int?
    private let redirects = Guarded<[URLRequest]>([])

    init(context: ImageContext?, cookieVersion: Int?) {
        self.context = context
        self.cookieVersion = cookieVersion
    }

    func operation(
        _ operation: ConnectionOperation,
        didFollow redirect: HTTPURLResponse,
        to request: URLRequest
    ) {
        redirects.withLock { $0.append(request) }
    }

    /// Whether the manager would still send `request` in `context`, and no redirect led to a request with a
    /// different or unknown identity.
    func identityIsUnchanged(
        _ context: ImageContext,
        _ request: URLRequest,
        by manager: OperationManager
    ) -> Bool {
        guard context == ImageContext(request, by: manager) else { return false }
        let redirects = redirects.withLock { $0 }
        guard !redirects.isEmpty else { return true }
        return cookieVersion == manager.cookieJar?.version
            && redirects.allSatisfy {
                [context, context.withoutUser].contains(ImageContext($0, by: manager))
            }
    }
}
