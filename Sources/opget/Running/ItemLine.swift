/// The items of a run in order: those whose turn has come, and what is known of files that were there before.
struct ItemLine {
    private let items: [Item]
    private var nextIndex = 0
    /// Items whose files are there already, and are being read.
    private var checking: Set<Int> = []

    init(_ items: [Item]) {
        self.items = items
    }

    var count: Int { items.count }

    subscript(_ index: Int) -> Item { items[index] }

    /// Whether every item had its turn, and no file is being read.
    var isOver: Bool { nextIndex == items.count && checking.isEmpty }

    /// The index of the next item; `nil`: there is none, or `limit` is reached by the `running` transfers and
    /// the files that are read.
    mutating func next(running: Int, limit: Int) -> Int? {
        guard running + checking.count < limit, nextIndex < items.count else { return nil }
        defer { nextIndex += 1 }
        return nextIndex
    }

    /// The file of an item is read, to compute its checksum.
    mutating func beginCheck(_ index: Int) {
        checking.insert(index)
    }

    mutating func endCheck(_ index: Int) {
        checking.remove(index)
    }
}
