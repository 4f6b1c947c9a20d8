/// What a server does with the bodies of requests before it answers them.
public enum RequestBodyPolicy: Sendable {
    /// Reads them, after a `100 Continue` for those who expect it.
    case read
    /// Reads them, and never sends `100 Continue`: the client has to lose its patience.
    case readWithoutContinue
    /// Answers without having read them, and closes the connection after the answer.
    case leave
    /// Reads so many bytes of each, and the rest when the gate is open.
    case hold(after: Int, by: Gate)
    /// Reads at least so many bytes of each, if there are as many, and resets the connection. Such a request
    /// is recorded with what was read, and takes no answer of the script.
    case reset(after: Int)
    /// What the closure says of each request, whose body was not read yet.
    indirect case each(@Sendable (ReceivedRequest) -> RequestBodyPolicy)

    func policy(for request: ReceivedRequest) -> RequestBodyPolicy {
        guard case .each(let choose) = self else { return self }
        return choose(request).policy(for: request)
    }
}
