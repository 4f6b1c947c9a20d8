internal import Foundation
internal import OperationNetworking

/// The state of a downloader: waiting handlers and transfers.
///
/// | Event                       | The image is    | Effect                                              |
/// |-----------------------------|-----------------|-----------------------------------------------------|
/// | request                     | unknown         | it waits; starts if fewer than the limit are active |
/// | request                     | waiting, active | the handler is added; the highest priority counts   |
/// | cancel, other handlers left | waiting, active | that handler is called                              |
/// | cancel the last handler     | waiting         | that handler is called; the image is removed        |
/// | cancel the last handler     | active          | the same, and the transfer is stopped               |
/// | cancel                      | unknown, done   | nothing                                             |
/// | end of a transfer           | its own         | all its handlers are called; the next one starts    |
/// | end of a stopped transfer   | any             | its slot is free; the next one starts               |
///
/// A stopped transfer keeps its slot until it has ended, so the limit is never exceeded.
struct DownloadTable<Key: Hashable & Sendable, Handler: Sendable> {
    /// A transfer to be started.
    struct Start: Equatable, Sendable {
        let transfer: Int
        let key: Key
    }

    /// The cancelled handler, and the transfer to stop.
    struct Cancellation {
        let handler: Handler
        /// The transfer to stop, if any.
        let stopped: Int?
    }

    private struct Image {
        let transfer: Int
        let order: Int
        var priority: Int
        /// By their order.
        var handlers: [Int: (ticket: UUID, handler: Handler)]
    }

    /// The position in the queue.
    private struct Rank: Comparable, Sendable {
        let priority: Int
        /// Increases with time, or decreases if the last one comes first.
        let order: Int

        static func < (one: Rank, other: Rank) -> Bool {
            one.priority == other.priority ? one.order < other.order : one.priority > other.priority
        }
    }

    /// The maximum number of concurrent transfers.
    let limit: Int
    /// Whether the last requested image of a priority starts first.
    let isLastFirst: Bool
    private var images: [Key: Image] = [:]
    private var waiting: Set<Key> = []
    /// The waiting images, the next one first. Contains stale entries of images that no longer wait or have
    /// another priority.
    private var line = BinaryHeap<Rank, (start: Start, priority: Int)>()
    private var active: Set<Int> = []
    private var tickets: [UUID: (key: Key, order: Int)] = [:]
    private var last = 0
    private var lastHandler = 0

    init(limit: Int, isLastFirst: Bool) {
        self.limit = max(1, limit)
        self.isLastFirst = isLastFirst
    }

    var activeCount: Int { active.count }
    var waitingCount: Int { waiting.count }

    /// Returns the handlers that wait for the image, the longest-waiting first.
    func handlers(of key: Key) -> [Handler] { images[key].map { Self.inOrder($0).map(\.handler) } ?? [] }

    private static func inOrder(_ image: Image) -> [(ticket: UUID, handler: Handler)] {
        image.handlers.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Whether handlers wait for this transfer.
    func isWanted(_ transfer: Int, of key: Key) -> Bool { images[key]?.transfer == transfer }

    // MARK: - Events

    mutating func ask(for key: Key, _ ticket: UUID, _ handler: Handler, priority: Int) -> [Start] {
        lastHandler += 1
        tickets[ticket] = (key, lastHandler)
        // In place: a copy would be linear in the number of waiting handlers.
        if let index = images.index(forKey: key) {
            images.values[index].handlers[lastHandler] = (ticket, handler)
            guard priority > images.values[index].priority else { return [] }
            images.values[index].priority = priority
            if waiting.contains(key) { enqueue(images.values[index], key) }
            return []
        }
        last += 1
        let handlers = [lastHandler: (ticket, handler)]
        let image = Image(transfer: last, order: last, priority: priority, handlers: handlers)
        images[key] = image
        waiting.insert(key)
        enqueue(image, key)
        return next()
    }

    mutating func cancel(_ ticket: UUID) -> Cancellation? {
        guard let (key, order) = tickets.removeValue(forKey: ticket), let index = images.index(forKey: key),
            let handler = images.values[index].handlers.removeValue(forKey: order)?.handler
        else { return nil }
        guard images.values[index].handlers.isEmpty else {
            return Cancellation(handler: handler, stopped: nil)
        }
        let image = images.remove(at: index).value
        return Cancellation(handler: handler, stopped: waiting.remove(key) == nil ? image.transfer : nil)
    }

    /// Returns the handlers of the image; none for a stopped transfer, whose image may have been requested
    /// again.
    mutating func end(_ transfer: Int, of key: Key) -> (handlers: [Handler], starts: [Start]) {
        active.remove(transfer)
        var handlers: [Handler] = []
        if let image = images[key], image.transfer == transfer {
            images[key] = nil
            for (ticket, handler) in Self.inOrder(image) {
                tickets[ticket] = nil
                handlers.append(handler)
            }
        }
        return (handlers, next())
    }

    // MARK: - Private

    private mutating func next() -> [Start] {
        var starts: [Start] = []
        while active.count < limit, let key = first() {
            waiting.remove(key)
            guard let image = images[key] else { continue }
            active.insert(image.transfer)
            starts.append(Start(transfer: image.transfer, key: key))
        }
        return starts
    }

    private mutating func enqueue(_ image: Image, _ key: Key) {
        // Amortized constant time.
        if line.count > 2 * waiting.count + 64 {
            var line = line
            line.removeAll { !isNext($0.start, $0.priority) }
            self.line = line
        }
        let rank = Rank(priority: image.priority, order: isLastFirst ? -image.order : image.order)
        line.insert((Start(transfer: image.transfer, key: key), image.priority), rank)
    }

    /// Removes and returns the next image.
    private mutating func first() -> Key? {
        while let entry = line.removeFirst() {
            let (start, priority) = entry.value
            if isNext(start, priority) { return start.key }
        }
        return nil
    }

    /// Whether the image is still waiting with this priority.
    private func isNext(_ start: Start, _ priority: Int) -> Bool {
        guard waiting.contains(start.key), let image = images[start.key] else { return false }
        return image.transfer == start.transfer && image.priority == priority
    }
}
