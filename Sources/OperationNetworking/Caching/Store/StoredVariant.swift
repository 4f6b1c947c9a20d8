import Foundation

/// One stored response: the head as it was stored, and the number by which its body is read.
struct CacheEntry: Hashable, Sendable {
    /// Unique among the entries of a URL, in all processes that share the directory.
    let id: Int64
    var head: CachedHead
    /// The body, if it is in memory. Not a part of what makes two entries equal.
    var body: CacheBody?

    static func == (one: CacheEntry, other: CacheEntry) -> Bool {
        one.id == other.id && one.head == other.head
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(head)
    }
}

/// One of the stored responses of a URL.
struct StoredVariant: Hashable, Sendable {
    /// See ``CacheKey/partition``.
    let partition: String
    var entry: CacheEntry
    /// Whether the disk has it, or is about to.
    var isOnDisk: Bool

    /// In bytes: the head is counted, and what the tables need beside it is estimated.
    var cost: Int {
        let fields = entry.head.head.fields
        let head = 512 + entry.head.url.utf8.count + 64 * fields.count + fields.octetCount
        return head + (entry.body?.count ?? 0)
    }
}

/// A change of the stored responses of a URL. Memory and the head file on the disk are changed by the same
/// value, so the file may have changed since memory knew it.
enum StoreChange: Sendable {
    /// The variants of a URL that are kept. A server can name a field in `Vary` that differs in each request,
    /// so the oldest ones go first.
    static let maximumVariants = 64

    /// Adds a response in place of others.
    ///
    /// `invalidated` are the entries that were invalidated when they were looked up. If another one of the
    /// partition is by now, another process has invalidated the URL meanwhile, and the new response may show
    /// the state before that: it is invalidated as well. `nil`: they are not compared.
    case insert(StoredVariant, replacing: Set<Int64>, invalidated: Set<Int64>?)
    /// Gives an entry, as it was found, another head.
    case update(CacheEntry, to: CachedHead)
    case remove(Set<Int64>)
    case removeAll
    /// Marks the entries of a partition: they have to be validated before they are used.
    case invalidate(partition: String)

    func apply(to variants: inout [StoredVariant]) {
        switch self {
        case .insert(var variant, let replaced, let known):
            let isInvalidated = variants.contains { old in
                old.partition == variant.partition && old.entry.head.isInvalidated
                    && known?.contains(old.entry.id) == false
            }
            if isInvalidated { variant.entry.head.isInvalidated = true }
            variants.removeAll { replaced.contains($0.entry.id) || $0.entry.id == variant.entry.id }
            variants.append(variant)
            variants.removeFirst(max(variants.count - Self.maximumVariants, 0))
        case .update(let found, let head):
            for index in variants.indices where variants[index].entry.id == found.id {
                let old = variants[index].entry.head
                variants[index].entry.head = old.updated(to: head, from: found.head)
            }
        case .remove(let ids):
            variants.removeAll { ids.contains($0.entry.id) }
        case .removeAll:
            variants = []
        case .invalidate(let partition):
            for index in variants.indices where variants[index].partition == partition {
                variants[index].entry.head.isInvalidated = true
            }
        }
    }
}

extension CachedHead {
    /// The new head of an entry, whatever has changed since it was found.
    ///
    /// | Since it was found                              | The head                                      |
    /// |-------------------------------------------------|-----------------------------------------------|
    /// | nothing                                         | the new one                                   |
    /// | a later request was answered                    | as it is, invalidated if the new one is       |
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
