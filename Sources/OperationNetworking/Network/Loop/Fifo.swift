/// A queue, first in, first out, each step in constant time on average; it may grow while it is emptied.
struct Fifo<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var isEmpty: Bool { elements.isEmpty }

    /// The elements that there is room for: not many more than there were of late.
    var capacity: Int { elements.capacity }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func append(contentsOf more: [Element]) {
        elements.append(contentsOf: more.map(Optional.some))
    }

    /// The oldest element.
    var first: Element? { head < elements.count ? elements[head] : nil }

    /// Takes the oldest element out, and lets go of it.
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
            // It need never be empty.
            elements.removeFirst(head)
            head = 0
            giveBackRoom()
        }
    }

    /// After a burst.
    private mutating func giveBackRoom() {
        guard elements.capacity > Self.keptCapacity, elements.capacity > 8 * elements.count else { return }
        var fewer: [Element?] = []
        fewer.reserveCapacity(2 * elements.count)
        fewer += elements
        elements = fewer
    }

    private static var keptCapacity: Int { 1024 }
}
