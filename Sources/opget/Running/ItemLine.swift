/// The items of a run in order: the next one to start, and the existing files that are being checked.
struct ItemLine {
    private let items: [Item]
    private var nextIndex = 0
    /// The items whose existing files are being read.
    private var checking: Set<Int> = []

    init(_ items: [Item]) {
        self.items = items
    }

    var count: Int { items.count }

    subscript(_ index: Int) -> Item { items[index] }

    /// Whether every item was started, and no file is being read.
    var isOver: Bool { nextIndex == items.count && checking.isEmpty }

    /// Returns the index of the next item; `nil` if none is left, or if `running` transfers and the files
    /// being read reach `limit`.
    mutating func next(running: Int, limit: Int) -> Int? {
        guard running + checking.count < limit, nextIndex < items.count else { return nil }
        defer { nextIndex += 1 }
        return nextIndex
    }

    /// Records that the file of an item is being read to compute its checksum.
    mutating func beginCheck(_ index: Int) {
        checking.insert(index)
    }

    mutating func endCheck(_ index: Int) {
        checking.remove(index)
    }
}
