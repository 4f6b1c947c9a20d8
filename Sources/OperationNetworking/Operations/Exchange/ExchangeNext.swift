import Foundation
import FoundationNetworking

/// The step that follows a response, once the transfer that brought it has ended.
enum ExchangeNext {
    /// The same is asked again.
    case again
    /// Another attempt, after this number of seconds.
    case retry(after: TimeInterval)
    /// The request is sent again with this proof, which answers the head.
    case authenticate(Authentication.Proof, ResponseHead)
    /// The token is fetched anew, and the request sent again with it.
    case renew(TokenSource.Token, TokenSource, ResponseHead)
    /// The redirect is followed.
    case follow(HTTPURLResponse, to: URLRequest, from: URL)
    /// The file has moved to another address.
    case move(to: URL)
    /// The whole is held already (S23).
    case finish
    case fail(any Error)
}
