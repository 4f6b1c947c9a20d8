/// How many operations a queue may run while some of its slots are lent: a value that decides and does nothing.
///
/// A queue counts an operation as running until it has finished, also while it is paused. So for every one that is
/// paused the queue's limit goes up by one, and comes down again when that one goes on or ends.
///
/// The limit is public, and its owner may change it at any time. What is found there is compared with what was
/// written last:
///
/// | found                 | means                        | to be written      |
/// |-----------------------|------------------------------|--------------------|
/// | what was written last | the user's limit is the same | user's limit + lent |
/// | anything else         | it is the user's new limit   | user's limit + lent |
///
/// No limit (-1), and the limit 0 that lets nothing start, stay as they are, whatever is lent.
struct SlotLedger: Hashable, Sendable {
    /// What the user wants to run at once; -1: any number.
    private(set) var userLimit: Int
    private(set) var lent = 0
    private var written: Int

    init(limit: Int) {
        userLimit = limit
        written = limit
    }

    /// The limit that lets as many operations run as the user wants, besides those that have lent their slots.
    var limit: Int {
        guard userLimit > 0 else { return userLimit }
        let (sum, overflow) = userLimit.addingReportingOverflow(lent)
        return overflow ? .max : sum
    }

    /// Takes note of what is lent now, and of the limit that was found.
    /// - Returns: the limit to write, if it is another one.
    mutating func settle(lent: Int, found: Int) -> Int? {
        if found != written { userLimit = found }
        self.lent = lent
        written = limit
        return written == found ? nil : written
    }

    /// The user says what he wants; nothing has to be guessed.
    /// - Returns: the limit to write.
    mutating func set(userLimit: Int) -> Int {
        self.userLimit = userLimit
        written = limit
        return written
    }
}
