import Foundation

/// One stored response: the head as it was stored, and the name by which its body is read.
struct CacheEntry: Hashable, Sendable {
    /// Of no other entry of the store, in other processes on the same directory included.
    let id: Int64
    var head: CachedHead
    /// The body, if the look-up had it at hand, so that reading it asks for nothing. No part of what makes
    /// two entries equal.
    var body: CacheBody?

    static func == (one: CacheEntry, other: CacheEntry) -> Bool {
        one.id == other.id && one.head == other.head
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(head)
    }
}

/// A place that keeps responses: memory, memory and a directory, or a cache of the user's.
///
/// Every call returns at once, on any thread, and does no work on files there: the network thread calls. What
/// is asked for after a change is answered by it.
///
/// Every entry has a whole body.
protocol CacheStore: AnyObject, Sendable {
    /// All variants of a key. Known in memory: returned at once, and `later` is not called. Else `nil`, and
    /// `later` is called once, on any thread.
    func find(_ key: CacheKey, later: @escaping @Sendable ([CacheEntry]) -> Void) -> [CacheEntry]?

    /// The variants of a key that are known at once, perhaps not all.
    func known(_ key: CacheKey) -> [CacheEntry]

    /// Begins a new entry, which is found when it is committed.
    ///
    /// - Parameters:
    ///   - head: of the response; its `length` says whether it has a chance to fit.
    ///   - key: of the request.
    ///   - replacing: the entries that go when this one is committed.
    ///   - invalidated: the entries of the key that were invalidated when they were looked up. If another one
    ///     is when this one is committed, the URL was invalidated meanwhile, by another process perhaps, and
    ///     this one is, too. `nil`: they are not compared.
    ///   - start: when the response was asked for; what was removed or invalidated since concerns it.
    ///   - inMemoryOnly: whether the disk must not have it.
    /// - Returns: `nil`: too large, or refused.
    func write(
        _ head: CachedHead,
        for key: CacheKey,
        replacing: [Int64],
        invalidated: Set<Int64>?,
        since start: StoreMoments.Moment,
        inMemoryOnly: Bool
    ) -> (any CacheWriting)?

    /// The present.
    var moment: StoreMoments.Moment { get }

    /// Gives an entry another head, after a validation; its body stays. An invalidation that came since it
    /// was found stays as well, and so does the answer to a later question.
    ///
    /// - Parameters:
    ///   - entry: as it was found.
    ///   - key: its key.
    ///   - head: the new one.
    ///   - start: when the server was asked; an invalidation since then stays, even if the entry was
    ///     invalidated before.
    func update(_ entry: CacheEntry, of key: CacheKey, to head: CachedHead, since start: StoreMoments.Moment)

    /// Removes an entry; `nil`: all of the key, those that are being written included.
    func remove(_ id: Int64?, of key: CacheKey)

    /// Marks all entries of the key: they have to be validated before they are used.
    func invalidate(_ key: CacheKey)

    /// Opens the body. In memory: returned at once, and `later` is not called. Else `nil`, and `later` is
    /// called once, on any thread; with `nil` where there is none any more.
    func read(
        _ entry: CacheEntry,
        of key: CacheKey,
        later: @escaping @Sendable ((any CacheReading)?) -> Void
    ) -> (any CacheReading)?
}

/// The body of a response on its way into a store. Used on one thread at a time.
///
/// Released before ``commit(_:then:)``, it is abandoned.
protocol CacheWriting: AnyObject, Sendable {
    /// Copies the next bytes. Never waits, and never fails loudly: a full disk makes the whole entry be
    /// dropped.
    func append(_ bytes: Span<UInt8>)

    /// Whether enough bytes wait for the disk. More are taken all the same.
    var isFull: Bool { get }

    /// Whether it is known that ``commit(_:then:)`` will make no entry of it, whatever else comes.
    var isLost: Bool { get }

    /// Called on any thread when it can take more after ``isFull``.
    var whenReady: (@Sendable () -> Void)? { get set }

    /// Makes it an entry, in place of those that it replaces.
    ///
    /// - Parameters:
    ///   - head: the final one: its `length` is that of the bytes that came, else the entry is dropped.
    ///   - then: called once, on any thread, perhaps before this returns: `nil` if it was dropped.
    func commit(_ head: CachedHead, then: (@Sendable (CacheEntry?) -> Void)?)

    /// Forgets it; what it was to replace stays.
    func abandon()
}

/// The body of an entry. It can be read to its end, even if the entry is removed meanwhile.
protocol CacheReading: AnyObject, Sendable {
    /// The number of bytes.
    var length: Int64 { get }

    /// The bytes from `offset` on: at most `count`, but at least one where there are any; fewer than `count`
    /// are no sign of the end.
    ///
    /// - Parameters:
    ///   - offset: of the first byte.
    ///   - count: the limit.
    ///   - later: hears the bytes of a file, on any thread, or an error: it is short, gone, another's.
    /// - Returns: the bytes, if they are in memory, and `later` is not called. Else `nil`.
    func read(
        at offset: Int64,
        atMost count: Int,
        later: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) -> Data?
}

extension CacheStore {
    /// The same for what is asked for now, on the disk if it is too large for memory.
    func write(_ head: CachedHead, for key: CacheKey, replacing: [Int64]) -> (any CacheWriting)? {
        write(
            head,
            for: key,
            replacing: replacing,
            invalidated: nil,
            since: moment,
            inMemoryOnly: false
        )
    }

    /// The same for what is asked for now.
    func update(_ entry: CacheEntry, of key: CacheKey, to head: CachedHead) {
        update(entry, of: key, to: head, since: moment)
    }
}

extension CachedHead {
    /// The new head of an entry, whatever has changed since it was found.
    ///
    /// | Since it was found                              | The head                                      |
    /// |-------------------------------------------------|-----------------------------------------------|
    /// | nothing                                         | the new one                                   |
    /// | another question was asked later, and answered  | as it is, invalidated if the new one is       |
    /// | an invalidation                                 | the new one, invalidated                      |
    func updated(to head: CachedHead, from found: CachedHead) -> CachedHead {
        if self != found, requestTime > head.requestTime {
            var later = self
            if head.isInvalidated { later.isInvalidated = true }
            return later
        }
        var head = head
        if isInvalidated, !found.isInvalidated { head.isInvalidated = true }
        return head
    }
}

extension CacheKey {
    /// A hash that is the same in every process (FNV-1a, 64 bits): the key of indexes that are kept. Two keys
    /// may share one, so a look-up by it compares the keys.
    var storedHash: Int64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func combine(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        func combine(_ text: Span<UInt8>) { for index in text.indices { combine(text[index]) } }
        combine(url.utf8Span.span)
        combine(0)
        combine(partition.utf8Span.span)
        return Int64(bitPattern: hash)
    }
}
