/// The terminal as far as a run has changed it: the keys and the cursor, to be given back. From any thread.
struct RunTerminal: Sendable {
    /// `nil`: keys mean nothing.
    let keyboard: Keyboard?
    private let restoresCursor: Bool

    init(_ outlets: RunOutlets) {
        keyboard = outlets.keyboard
        restoresCursor = outlets.reporter.draws
    }

    /// Gives back what no frame will.
    func giveBackAtOnce() {
        keyboard?.close()
        if restoresCursor { Reporter.restoreCursor(of: .standardError) }
    }
}
