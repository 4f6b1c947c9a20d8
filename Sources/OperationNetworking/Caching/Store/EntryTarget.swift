import Foundation

/// The entries that a new one meets.
struct EntryTarget: Sendable {
    /// The length of the longest bodies that are in the index itself.
    static let inlineLength: Int64 = 16 * 1024
    /// Bodies up to this length are read at once, and then kept in memory.
    static let promotedLength: Int64 = 1024 * 1024

    /// The entries whose place it takes.
    let replacing: [Int64]
    /// The entries of its key that were found invalidated; `nil`: not to be compared.
    let invalidated: Set<Int64>?
}

/// The longest bodies that a writer takes, in bytes; 0: none.
struct EntryLimits: Sendable {
    var memory: Int64
    var disk: Int64
}

/// The place of a body that was written.
enum EntryContent: Sendable {
    /// In the index.
    case inline(Data)
    /// In a file, which has its last name.
    case file(BodyChecksums)
}
