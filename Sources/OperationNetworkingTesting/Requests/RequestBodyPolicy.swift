/// A server's treatment of the bodies of requests before it answers them.
public enum RequestBodyPolicy: Sendable {
    /// Reads them, after a `100 Continue` for requests that expect it.
    case read
    /// Reads them, and never sends `100 Continue`: the client has to lose its patience.
    case readWithoutContinue
    /// Answers without having read them, and closes the connection after the answer.
    case leave
    /// Reads `after` bytes of each, and the rest when the gate is open.
    case hold(after: Int, by: Gate)
    /// Reads at least `after` bytes of each, if it has that many, and resets the connection. Such a request
    /// is recorded with what was read, and takes no answer of the script.
    case reset(after: Int)
    /// The closure's policy for each request, whose body was not read yet.
    indirect case each(@Sendable (ReceivedRequest) -> RequestBodyPolicy)

    func policy(for request: ReceivedRequest) -> RequestBodyPolicy {
        guard case .each(let choose) = self else { return self }
        return choose(request).policy(for: request)
    }
}
