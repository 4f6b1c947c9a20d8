import Foundation
internal import OperationNetworkingSystem

/// Decides when a host's name is looked up, and keeps its addresses. A value.
///
/// | phase   | lookup requested    | result                                                  | delay over |
/// |---------|---------------------|---------------------------------------------------------|------------|
/// | idle    | look up, as try 0   | -                                                       | -          |
/// | looking | look up again later | look up again if requested; wait after a temporary failure, while tries are left; otherwise idle | - |
/// | waiting | look up, as try 0   | -                                                       | look up, as the next try |
///
/// A lookup is requested when monitoring begins and when the routes change, because a name may have other
/// addresses in another network. If a lookup fails temporarily, the earlier addresses are kept and three more
/// tries follow: the file with the name servers may be written after the route to them. After that, nothing
/// happens until the routes change.
struct NameLookup: Hashable, Sendable {
    enum Effect: Hashable, Sendable {
        case none
        /// Look up the name, and call `end` with the result and this turn.
        case look(turn: Int)
        /// Call `wake` with this turn after some seconds.
        case wait(TimeInterval, turn: Int)
    }

    private enum Phase: Hashable {
        case idle
        case looking(tryNumber: Int, again: Bool)
        case waiting(tryNumber: Int)
    }

    /// The delays before the further tries, in seconds.
    static let delays: [TimeInterval] = [0.5, 2, 8]

    /// The addresses. Empty if the name has none or the lookup failed; `nil` before the first result.
    private(set) var addresses: [RouteDestination]?
    private var phase = Phase.idle
    private var turn = 0

    mutating func ask() -> Effect {
        switch phase {
        case .idle, .waiting: return look(tryNumber: 0)
        case .looking(let number, _):
            phase = .looking(tryNumber: number, again: true)
            return .none
        }
    }

    /// Records the result of a lookup. The result of an earlier lookup is ignored.
    mutating func end(_ answer: HostLookup, turn: Int) -> Effect {
        guard case .looking(let number, let again) = phase, turn == self.turn else { return .none }
        phase = .idle
        switch answer {
        case .found(let found): addresses = found
        case .none: addresses = []
        case .notNow: addresses = addresses ?? []
        }
        if again { return look(tryNumber: 0) }
        guard answer == .notNow, number < Self.delays.count else { return .none }
        phase = .waiting(tryNumber: number + 1)
        self.turn += 1
        return .wait(Self.delays[number], turn: self.turn)
    }

    mutating func wake(turn: Int) -> Effect {
        guard case .waiting(let number) = phase, turn == self.turn else { return .none }
        return look(tryNumber: number)
    }

    /// Cancels the lookup and the next try. The addresses stay.
    mutating func stop() {
        phase = .idle
        turn += 1
    }

    private mutating func look(tryNumber: Int) -> Effect {
        turn += 1
        phase = .looking(tryNumber: tryNumber, again: false)
        return .look(turn: turn)
    }
}
