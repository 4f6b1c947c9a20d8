import Foundation
internal import OperationNetworkingSystem

/// Decides when a host's name is looked up, and keeps its addresses. A value.
///
/// | phase   | asked               | a result arrived                                        | the delay is over |
/// |---------|---------------------|---------------------------------------------------------|-------------------|
/// | idle    | looks, as try 0     | -                                                       | -                 |
/// | looking | looks after this    | idle; looks if asked meanwhile; waits if there is none *now*, and tries are left | - |
/// | waiting | looks, as try 0     | -                                                       | looks, as the next try |
///
/// It is asked when monitoring begins and when the routes change, because a name may have other addresses in
/// another network. A lookup that fails for now leaves the earlier addresses and is tried three more times:
/// the file with the name servers may appear later than the route to them. After that, nothing is looked up
/// until the routes change.
struct NameLookup: Hashable, Sendable {
    enum Effect: Hashable, Sendable {
        case none
        /// Look the name up, and pass the result on with the turn.
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

    /// The addresses. Empty if there are none, or if the lookup failed; `nil` if they are not known yet.
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

    /// Records a result. A result of an earlier lookup than the last is ignored.
    mutating func end(_ answer: HostLookup, turn: Int) -> Effect {
        guard case .looking(let number, let again) = phase, turn == self.turn else { return .none }
        phase = .idle
        switch answer {
        case .found(let found): addresses = found
        case .none: addresses = []
        case .temporaryFailure: addresses = addresses ?? []
        }
        if again { return look(tryNumber: 0) }
        guard answer == .temporaryFailure, number < Self.delays.count else { return .none }
        phase = .waiting(tryNumber: number + 1)
        self.turn += 1
        return .wait(Self.delays[number], turn: self.turn)
    }

    mutating func wake(turn: Int) -> Effect {
        guard case .waiting(let number) = phase, turn == self.turn else { return .none }
        return look(tryNumber: number)
    }

    /// Ends the lookup or the delay. The addresses stay.
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
