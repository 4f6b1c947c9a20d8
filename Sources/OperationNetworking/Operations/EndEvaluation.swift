/// The evaluation of an operation's end, which is made only once.
///
/// A pause or a cancel may come while a serializer runs, and the end is then reported again. A serializer may
/// take a while, and may do things that cannot be done twice, such as moving the file.
///
/// | Evaluation | the end is reported | of a cancelled operation | its result cannot be used yet |
/// |------------|---------------------|--------------------------|-------------------------------|
/// | not begun  | evaluate: begun     | use no result: begun     | -                             |
/// | begun      | none: it continues  | use no result            | kept                          |
/// | kept       | use that: begun     | use that: begun          | -                             |
///
/// The thread that evaluates uses its result if the operation is running by that time. During a pause the
/// result is kept, and used when the end is reported the next time.
enum EndEvaluation {
    /// The object and the error of an operation that ends.
    struct Result: Sendable {
        var object: (any Sendable)?
        var error: (any Error)?
    }

    case notBegun
    /// A thread is evaluating, or has used the result.
    case begun
    /// There is a result, and the operation was paused before it could be used. Boxed, since this is rare.
    indirect case kept(Result)

    /// What the thread that reports the end has to do.
    enum Turn {
        case none
        case evaluate
        case use(Result)
    }

    mutating func take(isCancelled: Bool) -> Turn {
        defer { self = .begun }
        switch self {
        case .notBegun: return isCancelled ? .use(Result()) : .evaluate
        // A cancelled operation does not wait for the evaluation.
        case .begun: return isCancelled ? .use(Result()) : .none
        case .kept(let result): return .use(result)
        }
    }

    mutating func keep(_ result: Result) {
        self = .kept(result)
    }
}
