/// The answers of a server, or of one of its routes.
public struct Script: Sendable {
    /// The behavior after the last answer of a script.
    public enum Exhaustion: Hashable, Sendable {
        /// The last answer is repeated.
        case repeatsLast
        /// Further requests are answered with 500 and an explanation.
        case fails
    }

    enum Kind: Sendable {
        case answers([Answer], Exhaustion)
        case handler(@Sendable (ReceivedRequest) throws -> Answer)
    }

    let kind: Kind

    private init(_ kind: Kind) {
        self.kind = kind
    }

    /// One answer per request, in order. Without any answer, every request is answered with 500.
    public static func answers(_ answers: [Answer], whenExhausted: Exhaustion = .repeatsLast) -> Script {
        Script(.answers(answers, whenExhausted))
    }

    /// The answers of `handler`, which is called on the connection's thread, concurrently for several
    /// connections. An error that it throws is answered with 500 and its description.
    public static func handler(
        _ handler: @escaping @Sendable (_ request: ReceivedRequest) throws -> Answer
    ) -> Script {
        Script(.handler(handler))
    }

    /// The representation, for every request.
    public static func representation(_ representation: Representation) -> Script {
        .answers([.representation(representation)])
    }
}

extension Script: ExpressibleByArrayLiteral {
    /// One answer per request, in order; the last is repeated.
    public init(arrayLiteral answers: Answer...) {
        self = .answers(answers)
    }
}

/// A script and its current position.
struct ScriptPlayer: Sendable {
    /// The script's reaction to a request.
    enum Reaction: Sendable {
        case answer(Answer)
        /// Must be called outside of any lock.
        case ask(@Sendable (ReceivedRequest) throws -> Answer)
    }

    private let script: Script
    private var position = 0

    init(_ script: Script) {
        self.script = script
    }

    mutating func next() -> Reaction {
        switch script.kind {
        case .handler(let handler): return .ask(handler)
        case .answers(let answers, let exhaustion):
            defer { position += 1 }
            if position < answers.count { return .answer(answers[position]) }
            if let last = answers.last, exhaustion == .repeatsLast { return .answer(last) }
            let text = "The script has \(answers.count) answers; this is request \(position + 1).\n"
            return .answer(Answer(.message(.text(500, text))))
        }
    }
}
