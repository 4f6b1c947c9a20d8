/// Keys in the order of their last use. Every call takes constant time.
struct RecencyList<Key: Hashable & Sendable>: Sendable {
    private struct Node {
        let key: Key
        var older: Int
        var newer: Int
    }

    /// Nodes are linked by index; -1 means none.
    private var nodes: [Node?] = []
    private var free: [Int] = []
    private var places: [Key: Int] = [:]
    private var newest = -1
    private var oldestPlace = -1

    var count: Int { places.count }

    /// The least recently used key.
    var oldest: Key? { oldestPlace < 0 ? nil : nodes[oldestPlace]?.key }

    /// Makes the key the most recently used, and adds it if it is new.
    mutating func use(_ key: Key) {
        if let place = places[key] {
            guard place != newest else { return }
            unlink(place)
            link(place)
            return
        }
        let node = Node(key: key, older: -1, newer: -1)
        let place: Int
        if let last = free.popLast() {
            place = last
            nodes[place] = node
        } else {
            place = nodes.count
            nodes.append(node)
        }
        places[key] = place
        link(place)
    }

    mutating func remove(_ key: Key) {
        guard let place = places.removeValue(forKey: key) else { return }
        unlink(place)
        nodes[place] = nil
        free.append(place)
    }

    mutating func removeAll() {
        self = RecencyList()
    }

    private mutating func link(_ place: Int) {
        nodes[place]?.older = newest
        nodes[place]?.newer = -1
        if newest >= 0 { nodes[newest]?.newer = place } else { oldestPlace = place }
        newest = place
    }

    private mutating func unlink(_ place: Int) {
        guard let node = nodes[place] else { return }
        if node.older >= 0 { nodes[node.older]?.newer = node.newer } else { oldestPlace = node.newer }
        if node.newer >= 0 { nodes[node.newer]?.older = node.older } else { newest = node.older }
    }
}
