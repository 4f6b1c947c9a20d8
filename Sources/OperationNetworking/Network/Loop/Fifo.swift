/// A first-in, first-out queue. Each step takes amortized constant time. It may grow while it is emptied.
struct Fifo<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var isEmpty: Bool { elements.isEmpty }

    /// The capacity, which does not far exceed the recent number of elements.
    var capacity: Int { elements.capacity }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func append(contentsOf more: [Element]) {
        for element in more { elements.append(element) }
    }

    /// The oldest element.
    var first: Element? { head < elements.count ? elements[head] : nil }

    /// Removes and returns the oldest element.
    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        defer { advance() }
        return elements[head].take()
    }

    private mutating func advance() {
        head += 1
        if head == elements.count {
            if elements.capacity > Self.keptCapacity {
                elements = []
            } else {
                elements.removeAll(keepingCapacity: true)
            }
            head = 0
        } else if head >= 64, 2 * head >= elements.count {
            // The queue may never become empty.
            elements.removeFirst(head)
            head = 0
            shrink()
        }
    }

    /// Releases unused capacity after a burst.
    private mutating func shrink() {
        guard elements.capacity > Self.keptCapacity, elements.capacity > 8 * elements.count else { return }
        var fewer: [Element?] = []
        fewer.reserveCapacity(2 * elements.count)
        fewer += elements
        elements = fewer
    }

    private static var keptCapacity: Int { 1024 }
}
