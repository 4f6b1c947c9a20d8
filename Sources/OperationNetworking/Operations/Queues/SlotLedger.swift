/// The count of a queue's slots, some of which are lent: a value that decides and does nothing.
///
/// A queue counts an operation as running until it has finished, also while it is paused. So for every one
/// that is paused the queue's limit goes up by one, and comes down again when that one goes on or ends.
///
/// The limit is public, and its owner may change it at any time. What is found there is compared with what
/// was written last:
///
/// | found                 | means                        | to be written      |
/// |-----------------------|------------------------------|--------------------|
/// | what was written last | the user's limit is the same | user's limit + lent |
/// | anything else         | it is the user's new limit   | user's limit + lent |
///
/// No limit (-1), and the limit 0 that lets nothing start, stay as they are, whatever is lent.
///
/// Several threads may have the limit to write, and none may hold a lock while it does: to write it makes
/// Foundation ask operations whether they are ready. Each asks ``next()`` until there is nothing more to do:
///
/// | being written          | written last    | step                                          |
/// |------------------------|-----------------|-----------------------------------------------|
/// | a number, not seen yet | -               | wait until the queue shows it, or it returned |
/// | nothing                | another number  | write                                         |
/// | nothing                | the right one   | done                                          |
///
/// So what is written last is what was decided last.
struct SlotLedger: Hashable, Sendable {
    enum Step: Hashable, Sendable {
        /// Give the queue `number`, then call ``hasWritten(_:)`` with `turn`.
        case write(_ number: Int, turn: Int)
        /// Another thread is about to give it `number`; once the queue shows that, call ``hasWritten(_:)``
        /// with `turn`.
        case wait(_ number: Int, turn: Int)
        case done
    }

    /// The limit that the user has set; -1: any number.
    private(set) var userLimit: Int
    private(set) var lent = 0
    private var written: Int
    private var turn = 0
    private var isWriting = false

    init(limit: Int) {
        userLimit = limit
        written = limit
    }

    /// The limit that lets as many operations run as the user wants, besides those that have lent their
    /// slots.
    var limit: Int {
        guard userLimit > 0 else { return userLimit }
        let (sum, overflow) = userLimit.addingReportingOverflow(lent)
        return overflow ? .max : sum
    }

    /// Takes note of what is lent now, and of the limit that the queue shows if the user may have set it
    /// without saying so.
    mutating func settle(lent: Int, found: Int?) {
        if let found, found != written {
            userLimit = found
            written = found
        }
        self.lent = lent
    }

    /// The user says what he wants; nothing has to be guessed.
    mutating func set(userLimit: Int) {
        self.userLimit = userLimit
    }

    mutating func next() -> Step {
        if isWriting { return .wait(written, turn: turn) }
        guard written != limit else { return .done }
        written = limit
        turn += 1
        isWriting = true
        return .write(written, turn: turn)
    }

    /// The number of `turn` is in the queue.
    mutating func hasWritten(_ turn: Int) {
        if turn == self.turn { isWriting = false }
    }
}
