/// The evaluation of an operation's end: a value that has it made once.
///
/// A pause, or a cancel, may come while a serializer runs, and the end is then told again. A serializer may
/// take its time, and may do what cannot be done twice, such as moving the file.
///
/// | Evaluation | the end is told    | of a cancelled operation | its result does not count yet |
/// |------------|--------------------|--------------------------|-------------------------------|
/// | not begun  | evaluate: begun    | use no result: begun     | -                             |
/// | begun      | none: it goes on   | use no result            | kept                          |
/// | kept       | use that: begun    | use that: begun          | -                             |
///
/// The thread that evaluates uses its result if the operation runs then. In a pause the result is kept, and
/// used when the end is told the next time.
enum EndEvaluation {
    typealias Result = (object: (any Sendable)?, error: (any Error)?)

    case notBegun
    /// A thread evaluates, or has used the result.
    case begun
    /// There is a result, and the operation was paused before it could count. It is rare: in a box.
    indirect case kept(Result)

    /// The part of a thread that tells the end.
    enum Turn {
        case none
        case evaluate
        case use(Result)
    }

    mutating func take(isCancelled: Bool) -> Turn {
        defer { self = .begun }
        switch self {
        case .notBegun: return isCancelled ? .use((nil, nil)) : .evaluate
        // A cancelled operation does not wait for it.
        case .begun: return isCancelled ? .use((nil, nil)) : .none
        case .kept(let result): return .use(result)
        }
    }

    mutating func keep(_ result: Result) {
        self = .kept(result)
    }
}
