/// The exclusive right to write a regular file within this process, whatever name it was opened by. Does not
/// affect other processes.
///
/// | Operation                           | Claims                          | If already claimed         |
/// |-------------------------------------|---------------------------------|----------------------------|
/// | writes a file: ``OutputFile``       | it, before a byte of it changes | ``Taken``                  |
/// | writes a partial file: ``PartFile`` | it, with its lock               | ``PartFile/Lock/held``     |
/// | replaces a file by a complete one   | the old one, for that moment    | fails; the old one is kept |
/// | gives a file an unused name         | nothing (``DownloadFolder``)    | -                          |
///
/// The claim ends when the object is deallocated. The file must stay open until then: the inode of a closed
/// file without a name may be reused.
package final class FileClaim: Sendable {
    /// Another operation of this process is writing the file.
    package struct Taken: Error, Hashable, Sendable {}

    private static let claimed = Locked<Set<FileIdentity>>([])

    private let identity: FileIdentity

    /// - Returns: `nil` if the file is already claimed.
    package init?(_ identity: FileIdentity) {
        guard Self.claimed.withLock({ $0.insert(identity).inserted }) else { return nil }
        self.identity = identity
    }

    deinit {
        Self.claimed.withLock { _ = $0.remove(identity) }
    }
}
