/// The right to write one regular file: in this process there is one at a time, by which names ever the file
/// was opened. Other processes do not see it.
///
/// | Operation                              | Claims                          | Finds the claim taken             |
/// |----------------------------------------|---------------------------------|-----------------------------------|
/// | writes a file: ``OutputFile``          | it, before a byte of it changes | ``Taken``                         |
/// | writes a partial file: ``PartFile``    | it, with its lock               | ``PartFile/Lock/held``            |
/// | replaces a file by a complete one      | the old one, for that moment    | fails, and the old one stays      |
/// | gives a file a name that is free       | nothing (``NameTaking``)        | -                                 |
///
/// Given back when it is released. The file has to be open until then: the number of a file that is closed
/// and has no name may become another one's.
package final class FileClaim: Sendable {
    /// Another operation of this process writes the file.
    package struct Taken: Error, Hashable, Sendable {}

    private static let claimed = Locked<Set<FileIdentity>>([])

    private let identity: FileIdentity

    /// - Returns: `nil` if the file is claimed.
    package init?(_ identity: FileIdentity) {
        guard Self.claimed.withLock({ $0.insert(identity).inserted }) else { return nil }
        self.identity = identity
    }

    deinit {
        Self.claimed.withLock { _ = $0.remove(identity) }
    }
}
