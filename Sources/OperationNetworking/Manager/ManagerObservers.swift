import Logging

/// The observers of a manager's operations, including that of the logger, in the order in which they were
/// added.
///
/// The members are in an immutable object, so copying a manager's state costs a reference, and one comparison
/// is enough if there are none.
struct ManagerObservers: Sendable {
    private enum Member: Sendable {
        /// The observer of ``OperationManager/logger``, and the relay by which operations recognize it as the
        /// manager's.
        case logging(LoggingObserver, ObserverRelay)
        case added(ObserverRelay)

        /// The observer of an operation that is made now; `nil` if the logger writes nothing.
        var observer: (any OperationObserver)? {
            switch self {
            case .logging(let observer, let relay): observer.logger.logLevel <= .debug ? relay : nil
            case .added(let relay): relay
            }
        }

        /// The relay to an added observer.
        var relay: ObserverRelay? {
            switch self {
            case .logging: nil
            case .added(let relay): relay
            }
        }

        /// The member for a copy of the manager, which is removed separately.
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

    /// The observer that writes to ``OperationManager/logger``. A new one is added last.
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

    /// Adds an observer. One that has already been added keeps its place.
    /// - Returns: the relay to the observer.
    mutating func add(_ observer: any OperationObserver) -> ObserverRelay {
        if let known = member(for: observer) { return known }
        let relay = ObserverRelay(to: observer)
        members.append(.added(relay))
        return relay
    }

    /// Removes an observer, which may be passed as its relay.
    /// - Returns: the relay, which has not ended.
    mutating func remove(_ observer: any OperationObserver) -> ObserverRelay? {
        guard let relay = member(for: observer) else { return nil }
        members.removeAll { $0.relay === relay }
        return relay
    }

    /// Returns the observers for a copy of the manager.
    func copied() -> ManagerObservers {
        var copy = self
        copy.members = members.compactMap { $0.copied() }
        return copy
    }

    /// The observers of an operation that is made now, each through its relay.
    var ofNewOperation: [any OperationObserver] { list?.members.compactMap(\.observer) ?? [] }

    private func member(for observer: any OperationObserver) -> ObserverRelay? {
        members.lazy.compactMap(\.relay).first { $0.isOrLeads(to: observer) }
    }
}
