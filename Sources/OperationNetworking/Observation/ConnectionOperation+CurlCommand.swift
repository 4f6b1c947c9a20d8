import Foundation
internal import OperationNetworkingSystem

extension ConnectionOperation {
    /// A command line that has curl(1) send what the operation sends, for `sh`: method, URL, header fields,
    /// body, HTTP version, timeouts, authorities, proxy; not the client's certificate. It can be pasted as it
    /// is.
    ///
    /// Bytes that no argument can hold are piped into curl; files are named, and read by curl itself. A body
    /// from a stream is left out, and a comment says so. Redirects are not followed. A proxy that offers
    /// Negotiate gets that from curl, and not the user and the password.
    ///
    /// - Parameter redactingSecrets: whether `REDACTED` stands for user and password of the URL, its
    ///   fragment, and whatever has a name that tells that it is secret: fields such as `Authorization` and
    ///   `Cookie`, values of the query, of a form, and texts and numbers of JSON; JSON that is not UTF-8 is
    ///   not shown. Other bodies are shown as they are.
    /// - Returns: the command; for a request that cannot be sent a comment with the reason.
    public func curlCommand(redactingSecrets: Bool = true) -> String {
        let (configuration, request) = state.withLock { (exchangeConfiguration($0), $0.request) }
        do {
            return try CurlCommandLine(configuration, redacts: redactingSecrets).text
        } catch {
            return "# " + Redaction.text(of: error, in: request)
        }
    }
}
