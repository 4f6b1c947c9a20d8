internal import Dispatch
internal import Foundation
internal import OperationNetworking
internal import OperationNetworkingImagesSystem

/// Notifies observers when the kernel reports memory pressure, like a memory warning on a phone.
///
/// Linux reports it as pressure stall information of the process's control group (version 2) or else of the
/// machine, and by the group's counters of reached limits. A thread waits for these files while there are
/// observers; it does not poll. If the kernel does not have these files, or the process cannot open them,
/// there are no notifications, and ``isAvailable`` is false. Version 1 of control groups has no such file, so
/// the machine's is used. Observers are notified at most once a second.
public final class MemoryPressure: Sendable {
    /// The registration of an observer, which ends when this object is deallocated.
    public final class Observation: Sendable {
        private let end: @Sendable () -> Void

        fileprivate init(_ end: @escaping @Sendable () -> Void) {
            self.end = end
        }

        deinit { end() }
    }

    private struct State {
        var observers: [Int: @Sendable () -> Void] = [:]
        var last = 0
        /// The files of the waiting thread, if there is one.
        var files: PressureFiles?
    }

    /// The memory pressure of this process.
    public static let shared = MemoryPressure(.current)

    private let source: MemoryPressureSource
    private let state = Guarded(State())

    init(_ source: MemoryPressureSource) {
        self.source = source
    }

    /// Whether the kernel reports memory pressure to this process.
    public var isAvailable: Bool {
        let (hasFiles, isObserved) = state.withLock { ($0.files != nil, !$0.observers.isEmpty) }
        return hasFiles || !isObserved && openFiles() != nil
    }

    /// Calls `action` on memory pressure, on a background thread, until the result is deallocated. A
    /// main-actor closure is called on the main queue.
    public func observe(@_inheritActorContext _ action: @escaping @isolated(any) @Sendable () -> Void)
        -> Observation
    {
        let call = Callback(action)
        return observe(calling: { call.call() })
    }

    private func observe(calling action: @escaping @Sendable () -> Void) -> Observation {
        let identifier = state.withLock { state in
            state.last += 1
            state.observers[state.last] = action
            if state.files == nil, let files = openFiles() {
                state.files = files
                Self.wait(files, report: { [weak self] in self?.notifyObservers() }) { [weak self] in
                    self?.release(files)
                }
            }
            return state.last
        }
        return Observation { [weak self] in self?.forget(identifier) }
    }

    /// Notifies all observers as if the kernel had reported pressure: for programs that learn of it
    /// otherwise, such as from a supervisor, and for tests.
    public func notifyObservers() {
        for action in state.withLock({ Array($0.observers.values) }) { action() }
    }

    // MARK: - Private

    private func openFiles() -> PressureFiles? {
        PressureFiles(
            pressure: source.pressure,
            trigger: source.trigger,
            events: source.events,
            isOrdinary: source.isOrdinary
        )
    }

    /// Called when the files are no longer usable. The next observer opens them again.
    private func release(_ files: PressureFiles) {
        state.withLock { if $0.files === files { $0.files = nil } }
    }

    private func forget(_ identifier: Int) {
        let (action, files) = state.withLock { state in
            let action = state.observers.removeValue(forKey: identifier)
            guard state.observers.isEmpty else { return (action, nil as PressureFiles?) }
            defer { state.files = nil }
            return (action, state.files)
        }
        files?.ring()
        withExtendedLifetime(action) {}
    }

    deinit {
        state.withLock { $0.files }?.ring()
    }

    /// Starts the thread, which ends with the bell, or when the files are no longer usable.
    private static func wait(
        _ files: PressureFiles,
        report: @escaping @Sendable () -> Void,
        ended: @escaping @Sendable () -> Void
    ) {
        // Read before the caller continues, so that no later change is missed.
        let known = files.readEvents().map(MemoryEvents.init)
        let thread = Thread {
            guard var events = known else { return ended() }
            while true {
                let reasons = files.wait()
                if reasons.contains(.bell) { return }
                if reasons.contains(.gone) { return ended() }
                var isShort = reasons.contains(.pressure)
                if reasons.contains(.events) {
                    guard let now = files.readEvents().map(MemoryEvents.init) else { return ended() }
                    isShort = isShort || now.count > events.count
                    events = now
                }
                if isShort { report() }
                // Events in this second are reported once after it, so that a file that is always ready
                // neither costs much nor floods an observer's queue.
                if files.waitForBell(milliseconds: 1_000) { return }
            }
        }
        thread.name = "MemoryPressure"
        thread.stackSize = 128 << 10
        thread.start()
    }
}
