/// A place in an answer, where it breaks, stalls or is held. An integer literal counts bytes of the body.
public struct AnswerPosition: Hashable, Sendable, ExpressibleByIntegerLiteral {
    enum Unit: Hashable, Sendable { case body, wire }

    let unit: Unit
    let count: Int

    /// After `count` bytes of the body, not counting the chunked coding's own. Zero is the place between
    /// the header section and the body. A place beyond the end is never reached.
    public static func body(_ count: Int) -> AnswerPosition {
        AnswerPosition(unit: .body, count: count)
    }

    /// After `count` bytes of whatever is sent, from the first byte of the first (interim) status line.
    /// A place beyond the end is never reached.
    public static func wire(_ count: Int) -> AnswerPosition {
        AnswerPosition(unit: .wire, count: count)
    }

    /// The place after `count` bytes of the body.
    public init(integerLiteral count: Int) {
        self = .body(count)
    }

    private init(unit: Unit, count: Int) {
        self.unit = unit
        self.count = count
    }
}
