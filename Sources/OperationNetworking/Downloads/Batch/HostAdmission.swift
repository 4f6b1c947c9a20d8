/// The admission of a batch's downloads: in order, but no more at once than one origin may have, and no more
/// than all together may be. A value.
///
/// | What happens                                | Costs the logarithm of                         |
/// |---------------------------------------------|------------------------------------------------|
/// | ``next()``, ``leave(_:)``                   | the number of origins                          |
/// | ``putBack(_:)``, ``takeBack(_:)``           | that, and of those that were put back          |
///
/// An origin that has its share does not keep those of other origins waiting behind it.
struct HostAdmission: Sendable {
    /// The downloads of one origin.
    private struct Lane {
        var waiting: [Int] = []
        /// The number of members of `waiting` that are gone.
        var head = 0
        /// Downloads that were put back.
        var returned = BinaryHeap<Int, Int>()
        var running = 0

        var first: Int? {
            let fresh = head < waiting.count ? waiting[head] : nil
            guard let old = returned.first?.value else { return fresh }
            return fresh.map { min($0, old) } ?? old
        }

        mutating func removeFirst() {
            if let old = returned.first?.value, old == first {
                _ = returned.removeFirst()
            } else {
                head += 1
            }
        }
    }

    private let limit: Int
    private let total: Int
    private var lanes: [Lane] = []
    private var laneOf: [Int]
    /// The first of each lane that may start one. An entry may be out of date.
    private var heads = BinaryHeap<Int, Int>()
    private(set) var running = 0
    private var waiting = 0

    /// Comparisons.
    var steps: Int { lanes.reduce(heads.steps.value) { $0 + $1.returned.steps.value } }

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
        while let (key: _, value: index) = heads.removeFirst() {
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
        lanes[laneOf[index]].returned.insert(index, index)
        waiting += 1
    }

    /// Takes out all that wait, in order: they are never started.
    mutating func removeAll() -> [Int] {
        let all = lanes.flatMap { $0.waiting[$0.head...] + Array($0.returned.values) }
        for number in lanes.indices {
            lanes[number].waiting = []
            lanes[number].head = 0
            lanes[number].returned = BinaryHeap()
        }
        heads = BinaryHeap()
        waiting = 0
        return all.sorted()
    }

    private mutating func offer(_ number: Int) {
        guard lanes[number].running < limit, let first = lanes[number].first else { return }
        heads.insert(first, first)
    }
}
