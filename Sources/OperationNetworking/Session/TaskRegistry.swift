/// The tasks of a session by their identifiers, and whether it takes new ones: a value.
///
/// | phase        | add     | remove                    | invalidate                    |
/// |--------------|---------|---------------------------|-------------------------------|
/// | valid        | taken   | -                         | invalidating; invalid if empty |
/// | invalidating | refused | invalid if it was the last | -                             |
/// | invalid      | refused | -                         | -                             |
struct TaskRegistry<Member> {
    enum Phase: Hashable, Sendable {
        case valid
        case invalidating
        case invalid
    }

    private(set) var phase = Phase.valid
    private var members: [Int: Member] = [:]
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

    /// One member becomes another one, whatever the phase.
    mutating func replace(_ old: Int, with member: Member, _ identifier: Int) {
        members[old] = nil
        members[identifier] = member
    }

    /// - Returns: the member, and whether the session has become invalid by that.
    mutating func remove(_ identifier: Int) -> (Member?, Bool) {
        let member = members.removeValue(forKey: identifier)
        guard phase == .invalidating, members.isEmpty else { return (member, false) }
        phase = .invalid
        return (member, true)
    }

    /// - Returns: whether the session has become invalid by that.
    mutating func invalidate() -> Bool {
        guard phase == .valid else { return false }
        phase = members.isEmpty ? .invalid : .invalidating
        return phase == .invalid
    }
}
