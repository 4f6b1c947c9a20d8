import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// For callers that may wait. Never called on the queues of the store.
extension TieredStore {
    /// All variants of a key.
    func entries(of key: CacheKey) -> [CacheEntry] {
        Self.answer { find(key, later: $0) }
    }

    /// The whole body; `nil`: it cannot be read.
    func body(of entry: CacheEntry, _ key: CacheKey) -> Data? {
        let opened: (any CacheReading)? = Self.answer {
            (later: @escaping @Sendable ((any CacheReading)?) -> Void) in
            read(entry, of: key, later: later).map { .some($0) }
        }
        guard let reader = opened else { return nil }
        var body = Data()
        while Int64(body.count) < reader.length {
            let offset = Int64(body.count)
            let piece: Result<Data, any Error> = Self.answer { later in
                reader.read(at: offset, atMost: 1 << 20, later: later).map { .success($0) }
            }
            guard let bytes = try? piece.get(), !bytes.isEmpty else { return nil }
            // One piece is all of a short body, and needs no copy.
            if offset == 0, bytes.count == reader.length { return bytes }
            body.append(bytes)
        }
        return body
    }

    /// Removes all of a URL, whatever the trust and the jar by which it was asked for, and waits for that.
    func remove(url: String) {
        state.withLock { state in
            state.remove(url: url)
            guard state.isDiskOn else { return }
            passOn { disk in
                try disk.remove(url: url)
            } then: { store, succeeded in
                let next = store.identifiers.next()
                store.state.withLock { state in
                    // A look-up may have been between.
                    state.remove(url: url)
                    if !succeeded { state.hidden.insert(url: url, before: next) }
                }
            }
        }
        waitForChanges()
    }

    /// Waits until all that was asked for is on its way no more.
    func waitForChanges() {
        bodies.sync {}
        index.sync {}
        bodies.sync {}
    }

    /// The cost of what is on the disk, in bytes.
    var diskUsage: Int {
        guard let disk else { return 0 }
        waitForChanges()
        return Int(index.sync { disk.usage() })
    }

    func setDiskCapacity(_ capacity: Int) {
        guard let disk else { return }
        disk.setCapacity(Int64(capacity))
        state.withLock { _ in
            passOn { disk in
                try disk.shrink()
            } then: { _, _ in
            }
        }
    }

    /// The answer of a call that gives it at once, or else later.
    private static func answer<Answer: Sendable>(
        _ ask: (_ later: @escaping @Sendable (Answer) -> Void) -> Answer?
    ) -> Answer {
        let arrived = DispatchSemaphore(value: 0)
        let late = Locked<Answer?>(nil)
        if let answer = ask({ answer in
            late.withLock { $0 = answer }
            arrived.signal()
        }) {
            return answer
        }
        while true {
            arrived.wait()
            if let answer = late.withLock({ $0 }) { return answer }
        }
    }
}
