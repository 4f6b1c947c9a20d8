/// A piece of work for the network thread.
enum NetworkWork: Sendable {
    case room(@Sendable (NetworkRoom) -> Void)
    /// Needs the run loop; waits until there is one.
    case loop(@Sendable (NetworkLoop) -> Void)
}
