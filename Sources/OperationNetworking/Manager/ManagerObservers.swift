import Logging

/// The observers of a manager's operations, in the order in which they were added; the logger's is one.
///
/// The members stand in an object that is never changed, so a copy of a manager's state costs a reference,
/// and one comparison says that there are none.
struct ManagerObservers: Sendable {
    private enum Member: Sendable {
        /// The one of ``OperationManager/logger``, and the relay by which operations know that it is the
        /// manager's.
        case logging(LoggingObserver, ObserverRelay)
        case added(ObserverRelay)

        /// The observer of an operation that is made now; `nil` for a logger that writes nothing.
        var observer: (any OperationObserver)? {
            switch self {
            case .logging(let observer, let relay): observer.logger.logLevel <= .debug ? relay : nil
            case .added(let relay): relay
            }
        }

        /// The relay to an observer that was added.
        var relay: ObserverRelay? {
            switch self {
            case .logging: nil
            case .added(let relay): relay
            }
        }

        /// The member of a copy of the manager, where it is removed apart from this one.
        func copied() -> Member? {
            switch self {
            case .logging: self
            case .added(let relay): relay.copied().map { .added($0) }
            }
        }
    }

    private final class List: Sendable {
        let members: [Member]

        init(_ members: [Member]) {
            self.members = members
        }
    }

    private var list: List?

    private var members: [Member] {
        get { list?.members ?? [] }
        set { list = newValue.isEmpty ? nil : List(newValue) }
    }

    /// The observer that writes for ``OperationManager/logger``. A new one is the last of all.
    var logging: LoggingObserver? {
        get {
            for case .logging(let observer, _) in members { return observer }
            return nil
        }
        set {
            members = members.filter { $0.relay != nil }
            if let newValue { members.append(.logging(newValue, ObserverRelay(to: newValue))) }
        }
    }

    /// Adds an observer; one that is among them stays where it is.
    /// - Returns: the relay to it.
    mutating func add(_ observer: any OperationObserver) -> ObserverRelay {
        if let known = member(for: observer) { return known }
        let relay = ObserverRelay(to: observer)
        members.append(.added(relay))
        return relay
    }

    /// Removes an observer, which may be given as its relay.
    /// - Returns: the relay, which has not ended.
    mutating func remove(_ observer: any OperationObserver) -> ObserverRelay? {
        guard let relay = member(for: observer) else { return nil }
        members.removeAll { $0.relay === relay }
        return relay
    }

    /// The same of a copy of the manager.
    func copied() -> ManagerObservers {
        var copy = self
        copy.members = members.compactMap { $0.copied() }
        return copy
    }

    /// The observers of an operation that is made now, each by its relay.
    var ofNewOperation: [any OperationObserver] { list?.members.compactMap(\.observer) ?? [] }

    private func member(for observer: any OperationObserver) -> ObserverRelay? {
        members.lazy.compactMap(\.relay).first { $0.isOrLeads(to: observer) }
    }
}
