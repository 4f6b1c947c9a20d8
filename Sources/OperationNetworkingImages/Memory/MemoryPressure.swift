internal import Dispatch
internal import Foundation
internal import OperationNetworking
internal import OperationNetworkingImagesSystem

/// Tells when the kernel says that memory is short: what a memory warning is on a phone.
///
/// Linux tells of it by pressure stall information: of the process's control group (version 2), else of the
/// machine; and by the group's counters of the times when it reached its limits. A thread waits for them, as
/// long as there are observers, and never looks by itself. Where the kernel has none of these files, or does
/// not let the process open them, nothing is told, and nothing else changes: ``isAvailable`` says so. Version
/// 1 of control groups has no such file; the machine's is used then. Observers are told once a second
/// at most.
public final class MemoryPressure: Sendable {
    /// An observer's place. It ends when the last reference to it goes away.
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
        /// The files of the thread that waits, if there is one.
        var files: PressureFiles?
    }

    /// The pressure of this process.
    public static let shared = MemoryPressure(.current)

    private let source: MemoryPressureSource
    private let state = Guarded(State())

    init(_ source: MemoryPressureSource) {
        self.source = source
    }

    /// Whether the kernel tells this process.
    public var isAvailable: Bool {
        let (hasFiles, isObserved) = state.withLock { ($0.files != nil, !$0.observers.isEmpty) }
        return hasFiles || !isObserved && openFiles() != nil
    }

    /// Calls `action` each time memory gets short, on a thread of its own, until the result goes away. One
    /// that is written in main-actor code is called on the main queue.
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
                Self.wait(files, tell: { [weak self] in self?.tell() }) { [weak self] in self?.lose(files) }
            }
            return state.last
        }
        return Observation { [weak self] in self?.forget(identifier) }
    }

    /// Calls all observers, as if the kernel had told: for programs that know better, as one does that is
    /// told of its limit by a supervisor, and for tests of what an app does then.
    public func tell() {
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

    /// The files are of no more use. The next observer looks for others.
    private func lose(_ files: PressureFiles) {
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

    /// Starts the thread, which ends with the bell, or when the files tell nothing any more.
    private static func wait(
        _ files: PressureFiles,
        tell: @escaping @Sendable () -> Void,
        gone: @escaping @Sendable () -> Void
    ) {
        // Read before the caller goes on, so that no change after it is missed.
        let known = files.readEvents().map(MemoryEvents.init)
        let thread = Thread {
            guard var events = known else { return gone() }
            while true {
                let news = files.wait()
                if news.contains(.bell) { return }
                if news.contains(.gone) { return gone() }
                var isShort = news.contains(.pressure)
                if news.contains(.events) {
                    guard let now = files.readEvents().map(MemoryEvents.init) else { return gone() }
                    isShort = isShort || now.count > events.count
                    events = now
                }
                if isShort { tell() }
                // What happens meanwhile is told after it, once. So a file that is ready all the time costs
                // next to nothing, and floods no queue of an observer.
                if files.waitForBell(milliseconds: 1_000) { return }
            }
        }
        thread.name = "MemoryPressure"
        thread.stackSize = 128 << 10
        thread.start()
    }
}
