import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// A response of Foundation's kind, made on demand.
///
/// Foundation looks at each field several times to make one. On the network thread that would hold up every
/// transfer, by a tenth of what a small request costs there. Callable from any thread.
final class ReceivedResponse: Sendable {
    private enum Form: Sendable {
        case head(ResponseHead, URL)
        case made(HTTPURLResponse?)
    }

    private let form: Locked<Form>

    init(_ head: ResponseHead, for url: URL) {
        form = Locked(.head(head, url))
    }

    init(_ response: HTTPURLResponse) {
        form = Locked(.made(response))
    }

    /// The same object each time.
    var value: HTTPURLResponse? {
        form.withLock { form in
            switch form {
            case .made(let response): return response
            case .head(let head, let url):
                let response = head.response(for: url)
                form = .made(response)
                return response
            }
        }
    }
}
