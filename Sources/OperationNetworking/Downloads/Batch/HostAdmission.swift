/// The admission of a batch's downloads: in order, within the limits per origin and in total. A value.
///
/// | Operation                                   | Costs the logarithm of                             |
/// |---------------------------------------------|----------------------------------------------------|
/// | ``next()``, ``leave(_:)``                   | the number of origins                              |
/// | ``putBack(_:)``, ``takeBack(_:)``           | that, and the number of returned downloads         |
///
/// An origin at its limit does not block the downloads of other origins.
struct HostAdmission: Sendable {
    /// The downloads of one origin.
    private struct Lane {
        var waiting: [Int] = []
        /// The number of elements of `waiting` that have been removed.
        var head = 0
        /// The downloads that were returned.
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
    /// The first download of each lane that may start one. Entries may be outdated.
    private var heads = BinaryHeap<Int, Int>()
    private(set) var running = 0
    private var waiting = 0

    /// The number of comparisons.
    var steps: Int { lanes.reduce(heads.steps.value) { $0 + $1.returned.steps.value } }

    /// Whether no download is running or waiting.
    var isIdle: Bool { running == 0 && waiting == 0 }

    /// - Parameters:
    ///   - origins: the origin of each member, in order.
    ///   - done: the members that need not be started.
    ///   - limit: the maximum number of running downloads per origin, at least 1.
    ///   - total: the maximum number of running downloads, at least 1.
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

    /// Returns the member to start now, which counts as running from then on; `nil` if none may start.
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

    /// Records the end of a running member.
    mutating func leave(_ index: Int) {
        running -= 1
        lanes[laneOf[index]].running -= 1
        offer(laneOf[index])
    }

    /// Returns a running member to its old place in the queue.
    mutating func putBack(_ index: Int) {
        insert(index)
        leave(index)
    }

    /// Returns a member that has ended to the queue.
    mutating func takeBack(_ index: Int) {
        insert(index)
        offer(laneOf[index])
    }

    private mutating func insert(_ index: Int) {
        lanes[laneOf[index]].returned.insert(index, index)
        waiting += 1
    }

    /// Removes all waiting members, which are never started, and returns them in order.
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
