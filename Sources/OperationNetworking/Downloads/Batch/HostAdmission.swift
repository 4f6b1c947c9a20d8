/// The admission of a batch's downloads: in order, but no more at once than one origin may have, and no more
/// than all together may be. A value.
///
/// | What happens                                | Costs                                     |
/// |---------------------------------------------|-------------------------------------------|
/// | ``next()``, ``leave(_:)``, ``putBack(_:)``  | the logarithm of the number of origins    |
///
/// An origin that has its share does not keep those of other origins waiting behind it.
struct HostAdmission: Sendable {
    /// The downloads of one origin.
    private struct Lane {
        var waiting: [Int] = []
        /// The number of members of `waiting` that are gone.
        var head = 0
        /// Downloads that were put back, the highest first.
        var returned: [Int] = []
        var running = 0

        var first: Int? {
            let fresh = head < waiting.count ? waiting[head] : nil
            guard let last = returned.last else { return fresh }
            return fresh.map { min($0, last) } ?? last
        }

        mutating func removeFirst() {
            if let last = returned.last, last == first {
                returned.removeLast()
            } else {
                head += 1
            }
        }
    }

    private let limit: Int
    private let total: Int
    private var lanes: [Lane] = []
    private var laneOf: [Int]
    /// The first of each lane that may start one: a binary heap of indices. An entry may be out of date.
    private var heads: [Int] = []
    private(set) var running = 0
    private var waiting = 0

    /// Whether none runs, and none waits.
    var isIdle: Bool { running == 0 && waiting == 0 }

    /// - Parameters:
    ///   - origins: of each member, in order.
    ///   - done: members that need not be started.
    ///   - limit: how many an origin may have at once, at least 1.
    ///   - total: how many there may be at once, at least 1.
    init(_ origins: [Origin], done: Set<Int> = [], limit: Int, total: Int) {
        self.limit = max(1, limit)
        self.total = max(1, total)
        var numbers: [Origin: Int] = [:]
        laneOf = []
        laneOf.reserveCapacity(origins.count)
        for (index, origin) in origins.enumerated() {
            let number = numbers[origin] ?? lanes.count
            if number == lanes.count {
                numbers[origin] = number
                lanes.append(Lane())
            }
            laneOf.append(number)
            guard !done.contains(index) else { continue }
            lanes[number].waiting.append(index)
            waiting += 1
        }
        for number in lanes.indices { offer(number) }
    }

    /// The member to start now, which counts from now on; `nil`: none may.
    mutating func next() -> Int? {
        guard running < total else { return nil }
        while let index = removeLowest() {
            let number = laneOf[index]
            guard lanes[number].first == index, lanes[number].running < limit else { continue }
            lanes[number].removeFirst()
            lanes[number].running += 1
            running += 1
            waiting -= 1
            offer(number)
            return index
        }
        return nil
    }

    /// A member that was started has ended.
    mutating func leave(_ index: Int) {
        running -= 1
        lanes[laneOf[index]].running -= 1
        offer(laneOf[index])
    }

    /// A member that was started waits again, in its old place.
    mutating func putBack(_ index: Int) {
        insert(index)
        leave(index)
    }

    /// A member that was started, and has left, waits again.
    mutating func takeBack(_ index: Int) {
        insert(index)
        offer(laneOf[index])
    }

    private mutating func insert(_ index: Int) {
        let number = laneOf[index]
        let place = lanes[number].returned.firstIndex { $0 < index } ?? lanes[number].returned.endIndex
        lanes[number].returned.insert(index, at: place)
        waiting += 1
    }

    /// Takes out all that wait, in order: they are never started.
    mutating func removeAll() -> [Int] {
        let all = lanes.flatMap { $0.waiting[$0.head...] + $0.returned }
        for number in lanes.indices {
            lanes[number].waiting = []
            lanes[number].head = 0
            lanes[number].returned = []
        }
        heads = []
        waiting = 0
        return all.sorted()
    }

    // MARK: - The heap

    private mutating func offer(_ number: Int) {
        guard lanes[number].running < limit, let first = lanes[number].first else { return }
        heads.append(first)
        var child = heads.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heads[child] < heads[parent] else { return }
            heads.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func removeLowest() -> Int? {
        guard let lowest = heads.first else { return nil }
        heads.swapAt(0, heads.count - 1)
        heads.removeLast()
        var parent = 0
        while true {
            var least = parent
            if 2 * parent + 1 < heads.count, heads[2 * parent + 1] < heads[least] { least = 2 * parent + 1 }
            if 2 * parent + 2 < heads.count, heads[2 * parent + 2] < heads[least] { least = 2 * parent + 2 }
            guard least != parent else { return lowest }
            heads.swapAt(parent, least)
            parent = least
        }
    }
}
