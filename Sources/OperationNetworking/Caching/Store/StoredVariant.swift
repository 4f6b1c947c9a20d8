import Foundation

/// A stored response: its head, and the number of its body.
struct CacheEntry: Hashable, Sendable {
    /// Unique among the entries of a URL, across all processes that share the directory.
    let id: Int64
    var head: CachedHead
    /// The body, if it is in memory. Ignored when entries are compared.
    var body: Data?

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
    /// Whether the disk has the response, or is about to.
    var isOnDisk: Bool

    /// The cost in bytes: the head and the body in memory, and an estimate for tables.
    var cost: Int {
        let (head, fields) = (entry.head, entry.head.fields)
        let parsed = 64 * (fields.count + head.directives.count)
        return 512 + head.url.utf8.count + fields.octetCount + parsed + (entry.body?.count ?? 0)
    }
}

/// A change of the stored responses of a URL. The same value is applied to memory and to the head file, which
/// may have changed since memory read it.
enum StoreChange: Sendable {
    /// The number of variants stored per URL. The oldest are removed first, because a server may name a field
    /// in `Vary` that differs in every request.
    static let maximumVariants = 64

    /// Adds a response, and removes those that it replaces.
    ///
    /// `invalidated` are the entries that were already invalidated when they were looked up. If another entry
    /// of the partition is invalidated by now, another process has done so in the meantime. The new response
    /// may be older than that, so it is invalidated as well. With `nil`, this is not checked.
    case insert(StoredVariant, replacing: Set<Int64>, invalidated: Set<Int64>?)
    /// Gives an entry a new head. The entry is passed as it was found.
    case update(CacheEntry, to: CachedHead)
    case remove(Set<Int64>)
    case removeAll
    /// Marks the entries of a partition so that they are validated before they are used.
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
    /// The new head of an entry, which may have changed since it was found.
    ///
    /// | Since it was found                              | The head                                      |
    /// |-------------------------------------------------|-----------------------------------------------|
    /// | nothing                                         | the new one                                   |
    /// | a later request was answered                    | the present one, invalidated if the new one is |
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
