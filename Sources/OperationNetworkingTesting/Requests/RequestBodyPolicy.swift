/// How a server handles request bodies before it answers.
public enum RequestBodyPolicy: Sendable {
    /// Reads them, after sending `100 Continue` to requests that expect it.
    case read
    /// Reads them but never sends `100 Continue`: the client has to time out waiting for it.
    case readWithoutContinue
    /// Answers without reading them, and closes the connection after the answer.
    case leave
    /// Reads `after` bytes of each, and the rest when the gate is open.
    case hold(after: Int, by: Gate)
    /// Reads at least `after` bytes of each, if it has that many, and resets the connection. Such a request
    /// is recorded with the bytes that were read, and does not consume an answer of the script.
    case reset(after: Int)
    /// Uses the closure's policy for each request, whose body has not been read yet.
    indirect case each(@Sendable (ReceivedRequest) -> RequestBodyPolicy)

    func policy(for request: ReceivedRequest) -> RequestBodyPolicy {
        guard case .each(let choose) = self else { return self }
        return choose(request).policy(for: request)
    }
}
