/// The place of an answer that has ended, beside a stored response to the same requests.
enum CachePlacement: Hashable, Sendable {
    /// Takes the place of the stored response.
    case instead
    /// Both are kept.
    case beside
    /// Adds nothing, and is dropped.
    case none
}

extension CachedHead {
    /// The place of an answer that has ended, beside a stored response to the same requests (RFC 9111 §3.3,
    /// §3.4).
    ///
    /// | The answer that has ended      | The stored response               | Place     |
    /// |--------------------------------|-----------------------------------|-----------|
    /// | complete                       | any                               | instead   |
    /// | a part                         | complete, or more, of its version | none      |
    /// | a part                         | less of its version               | instead   |
    /// | a part                         | complete, of another version      | beside    |
    /// | a part                         | a part of another version         | instead   |
    ///
    /// What is complete stays for what it may serve until the newer version is complete. A part beside it is
    /// of use to be completed, and for ranges within it.
    func placement(beside stored: CachedHead) -> CachePlacement {
        if stored.outdoes(self) { return .none }
        return stored.body.isComplete && !body.isComplete ? .beside : .instead
    }

    /// Whether a complete answer makes a stored response needless that its own request did not find, since
    /// that came to an equal request in the meantime: of many at once, each would leave another one.
    ///
    /// | The stored response                                                                | Needless |
    /// |------------------------------------------------------------------------------------|----------|
    /// | to other requests: other fields that `Vary` names, other credentials, another coding | no     |
    /// | newer, by the server's time                                                        | no       |
    /// | any other                                                                          | yes      |
    func overtakes(_ stored: CachedHead) -> Bool {
        body.isComplete && stored.isDecoded == isDecoded && stored.authorization == authorization
            && stored.selecting == selecting
            && stored.meaning.selecting?.names == meaning.selecting?.names
            && !CachePolicy.isOlder(self, than: stored)
    }
}
