/// A position in an answer, where it breaks, stalls or is held. An integer literal counts bytes of the body.
public struct AnswerPosition: Hashable, Sendable, ExpressibleByIntegerLiteral {
    enum Unit: Hashable, Sendable { case body, wire }

    let unit: Unit
    let count: Int

    /// After `count` bytes of the body, without the chunked coding. Zero is between the header section and
    /// the body. A position beyond the end is never reached.
    public static func body(_ count: Int) -> AnswerPosition {
        AnswerPosition(unit: .body, count: count)
    }

    /// After `count` bytes on the wire, starting with the first (interim) status line. A position beyond the
    /// end is never reached.
    public static func wire(_ count: Int) -> AnswerPosition {
        AnswerPosition(unit: .wire, count: count)
    }

    /// The position after `count` bytes of the body.
    public init(integerLiteral count: Int) {
        self = .body(count)
    }

    private init(unit: Unit, count: Int) {
        self.unit = unit
        self.count = count
    }
}
