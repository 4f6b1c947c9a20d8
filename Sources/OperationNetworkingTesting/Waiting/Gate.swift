/// A one-time event that threads and tasks can wait for. A gate starts closed, and stays open once opened.
///
/// A test holds an answer with a gate, checks the state, and opens it:
///
/// ```swift
/// let gate = Gate()
/// let server = try ScriptedServer([.respond(200, body: "0123456789").held(after: 4, by: gate)])
/// let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
/// operation.start()
/// try await gate.waitForArrivals()        // the server has sent "0123"
/// gate.open()                             // and now sends the rest
/// #expect(try await operation.value as? Data == Data("0123456789".utf8))
/// ```
///
/// It also works as a flag that a callback sets and a test waits for.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var arrivals = 0
        var openings: [Int: @Sendable () -> Void] = [:]
        var nextIdentifier = 0
    }

    private let state = Watched(State())

    /// Creates a closed gate.
    public init() {}

    /// Whether ``open()`` was called.
    public var isOpen: Bool { state.withLock(\.isOpen) }

    /// The number of arrivals at the gate so far: held answers and callers of the wait functions, including
    /// those that found it open.
    public var arrivals: Int { state.withLock(\.arrivals) }

    // MARK: - Commands

    /// Opens the gate. Opening an open gate does nothing. Callable from any thread.
    public func open() {
        let openings = state.withLock { state in
            state.isOpen = true
            defer { state.openings = [:] }
            return state.openings
        }
        for opening in openings.values { opening() }
    }

    /// Suspends the task until the gate is open.
    ///
    /// - Throws: ``TimeLimitExceeded``, or `CancellationError` if the task is cancelled.
    public func wait(within limit: Duration = .waitingLimit) async throws {
        arrive()
        try await state.wait(within: limit) { _ in
            "the gate stayed closed."
        } until: {
            $0.isOpen ? () : nil
        }
    }

    /// Blocks the thread until the gate is open. For threads that may block, such as that of a server's
    /// handler; in tasks, use ``wait(within:)``.
    ///
    /// - Throws: ``TimeLimitExceeded``.
    public func waitSynchronously(within limit: Duration = .waitingLimit) throws(TimeLimitExceeded) {
        arrive()
        try state.waitSynchronously(within: limit) { _ in
            "the gate stayed closed."
        } until: {
            $0.isOpen ? () : nil
        }
    }

    /// Suspends the task until `count` answers or callers have arrived at the gate; see ``arrivals``.
    ///
    /// - Throws: ``TimeLimitExceeded``, or `CancellationError` if the task is cancelled.
    public func waitForArrivals(_ count: Int = 1, within limit: Duration = .waitingLimit) async throws {
        try await state.wait(within: limit) {
            "\($0.arrivals) of \(count) arrived at the gate."
        } until: {
            $0.arrivals >= count ? () : nil
        }
    }

    // MARK: - For the server's connections

    /// Records an arrival.
    func arrive() {
        state.withLock { $0.arrivals += 1 }
    }

    /// Calls `opening` once when the gate is opened, on the thread that opens it; immediately if it is open.
    /// Returns the identifier for ``forget(_:)``.
    func whenOpened(_ opening: @escaping @Sendable () -> Void) -> Int? {
        let identifier: Int? = state.withLock { state in
            if state.isOpen { return nil }
            state.nextIdentifier += 1
            state.openings[state.nextIdentifier] = opening
            return state.nextIdentifier
        }
        if identifier == nil { opening() }
        return identifier
    }

    /// Undoes ``whenOpened(_:)``.
    func forget(_ identifier: Int?) {
        guard let identifier else { return }
        state.withLock { $0.openings[identifier] = nil }
    }
}
