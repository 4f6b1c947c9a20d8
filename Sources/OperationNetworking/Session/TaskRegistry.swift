/// The tasks of a session by their identifiers, and whether it takes new ones: a value.
///
/// | phase        | add     | conclude                   | invalidate                         |
/// |--------------|---------|----------------------------|------------------------------------|
/// | valid        | taken   | -                          | invalidating; invalid if none left |
/// | invalidating | refused | invalid if it was the last | -                                  |
/// | invalid      | refused | -                          | -                                  |
///
/// A member that is removed is left until ``conclude()``, when everything about it has been told.
struct TaskRegistry<Member> {
    enum Phase: Hashable, Sendable {
        case valid
        case invalidating
        case invalid
    }

    private(set) var phase = Phase.valid
    private var members: [Int: Member] = [:]
    /// The members that were removed, and not concluded.
    private var untold = 0
    private var lastIdentifier = 0

    /// The members, in the order of their identifiers.
    var all: [Member] { members.sorted { $0.key < $1.key }.map(\.value) }

    mutating func nextIdentifier() -> Int {
        lastIdentifier += 1
        return lastIdentifier
    }

    /// - Returns: whether the session takes it.
    mutating func add(_ member: Member, _ identifier: Int) -> Bool {
        guard phase == .valid else { return false }
        members[identifier] = member
        return true
    }

    /// One member becomes another one, whatever the phase; not one that is not there.
    mutating func replace(_ old: Int, with member: Member, _ identifier: Int) {
        if members.removeValue(forKey: old) != nil { members[identifier] = member }
    }

    /// - Returns: the member.
    mutating func remove(_ identifier: Int) -> Member? {
        untold += 1
        return members.removeValue(forKey: identifier)
    }

    /// A member that was removed has told everything.
    /// - Returns: whether the session has become invalid by that.
    mutating func conclude() -> Bool {
        untold -= 1
        guard phase == .invalidating, isEmpty else { return false }
        phase = .invalid
        return true
    }

    private var isEmpty: Bool { members.isEmpty && untold == 0 }

    /// - Returns: whether the session has become invalid by that.
    mutating func invalidate() -> Bool {
        guard phase == .valid else { return false }
        phase = isEmpty ? .invalid : .invalidating
        return phase == .invalid
    }
}
