import Foundation
internal import OperationNetworkingSystem

/// Decides when a host's name is looked up, and what its addresses are. A value.
///
/// | phase   | asked               | an answer came                                          | its time has come |
/// |---------|---------------------|---------------------------------------------------------|-------------------|
/// | idle    | looks, as try 0     | -                                                       | -                 |
/// | looking | looks after this    | idle; looks if asked meanwhile; waits if there is none *now*, and tries are left | - |
/// | waiting | looks, as try 0     | -                                                       | looks, as the next try |
///
/// It is asked when monitoring begins, and when the routes change: names may mean other addresses in another
/// network. An answer that cannot be had now leaves the addresses from before; three further tries follow it,
/// as the file with the name servers may come later than the route to them. Nothing is asked after that until
/// the routes change.
struct NameLookup: Hashable, Sendable {
    enum Effect: Hashable, Sendable {
        case none
        /// Look the name up, and give the answer with the turn.
        case look(turn: Int)
        /// Wake it with the turn after some seconds.
        case wait(TimeInterval, turn: Int)
    }

    private enum Phase: Hashable {
        case idle
        case looking(tryNumber: Int, again: Bool)
        case waiting(tryNumber: Int)
    }

    /// The seconds before each further try.
    static let delays: [TimeInterval] = [0.5, 2, 8]

    /// Empty: there is none, or none could be found out; `nil`: not known yet.
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

    /// Takes an answer. One to another look than the last is not waited for any more.
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

    /// Waits for nothing any more; the addresses stay.
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
