import Dispatch

/// A part of the main actor: changed by closures that know nothing of queues.
@MainActor final class MainScreen {
    private(set) var lines: [String] = []

    func show(_ line: String) {
        // A closure that came on another thread would trap here.
        dispatchPrecondition(condition: .onQueue(.main))
        MainActor.preconditionIsolated()
        lines.append(line)
    }
}
