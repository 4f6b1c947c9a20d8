/// The limit of answers to a range that bring next to nothing, so that a file does not cost a request for
/// each of its bytes: a value that decides.
///
/// It counts answers to a range that end early, as they said (S4): after three in a row that bring next to
/// nothing, the whole is asked for. And it says how many bytes are progress, after which a ``RetryPolicy``
/// counts anew (B1).
struct ShortAnswers: Hashable, Sendable {
    /// Answers in a row that bring next to nothing, before it is given up.
    private static let patience = 3
    /// The bytes that are always enough, in a file of any length.
    private static let enough: Int64 = 16 * 1024
    /// The divisor for small files: this part of the file is enough.
    private static let share: Int64 = 64

    private var fruitlessCount = 0

    /// Bytes of a file of `total` that are more than next to nothing.
    static func sensibleCount(of total: Int64?) -> Int64 {
        guard let total else { return enough / share }
        return max(1, min(enough, total / share))
    }

    /// An answer that ended early brought `count` bytes of a file of `total`.
    /// - Returns: whether ranges are of no use, and the whole is to be asked for; then it counts from 0
    ///   again.
    mutating func note(_ count: Int64, of total: Int64?) -> Bool {
        guard count < Self.sensibleCount(of: total) else {
            fruitlessCount = 0
            return false
        }
        fruitlessCount += 1
        guard fruitlessCount >= Self.patience else { return false }
        fruitlessCount = 0
        return true
    }
}
