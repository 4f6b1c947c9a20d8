/// The consequence of the end of a body, when its head decided nothing else: a value that decides.
///
/// | error     | use of the body            | and                          | follows               |
/// |-----------|----------------------------|------------------------------|-----------------------|
/// | untrusted | any                        |                              | ``askAboutServer``    |
/// | expired   | any                        |                              | ``again``             |
/// | refusal   | kept aside                 |                              | ``finish``            |
/// | any       | kept aside                 | it only explains             | ``finish``            |
/// | no byte can be had | kept aside        |                              | ``lost``              |
/// | any       | any                        | was held, and cannot go on   | ``changed``           |
/// | any       | any                        |                              | ``retry``             |
/// | none      | skipped                    |                              | ``changed``           |
/// | none      | checked                    |                              | ``differs``           |
/// | none      | delivered                  | less than a rest asked for   | ``askForMore``        |
/// | none      | delivered                  | not as long as it said       | ``wrongLength``       |
/// | none      | any                        |                              | ``finish``            |
///
/// The first row that matches counts.
enum BodyEnd {
    /// The security policy refused the server: the challenge closure may know it.
    case askAboutServer(ServerTrustError)
    /// Nothing was sent: the same is asked with another token.
    case again
    /// The response is the result.
    case finish
    /// The response has a body that cannot be handed over, which is this error, unless its status is one
    /// already.
    case lost(TransferError)
    /// The server has other bytes than those that are held.
    case changed
    /// The error is the result, unless there is another attempt.
    case retry(TransferError)
    /// The body ended within the bytes that it had to repeat.
    case differs
    /// The server sent less than it was asked for (S4).
    case askForMore
    /// The body is longer or shorter than its head said, which is this error.
    case wrongLength(any Error)

    /// The facts that are known when the body has ended.
    struct Facts {
        /// `nil`: it came whole, as far as HTTP can tell.
        var error: TransferError?
        var use = BodyUse.deliver
        /// Whether the body of a response that is no success only says why there is no other.
        var bodyExplains = false
        /// Whether the transfer was held during a pause, and what is held cannot be continued by another.
        var wasHeldForGood = false
        var isShort = false
        var lengthError: (any Error)?
    }

    init(_ facts: Facts) {
        if let error = facts.error { self.init(error, facts) } else { self.init(whole: facts) }
    }

    private init(_ error: TransferError, _ facts: Facts) {
        switch (error, facts.use) {
        case (.untrusted(let refusal), _):
            self = .askAboutServer(refusal)
        case (.expired, _):
            self = .again
        case (_, .keepAside) where error.isRefusal || facts.bodyExplains:
            // The status is the reason, however its explanation ended.
            self = .finish
        case (_, .keepAside) where error.isOfWholeBody:
            self = .lost(error)
        default:
            self = facts.wasHeldForGood ? .changed : .retry(error)
        }
    }

    private init(whole facts: Facts) {
        switch facts.use {
        case .skip: self = .changed
        case .check: self = .differs
        case .deliver:
            if facts.isShort {
                self = .askForMore
            } else {
                self = facts.lengthError.map { .wrongLength($0) } ?? .finish
            }
        case .compare, .keepAside, .drop, .discard: self = .finish
        }
    }
}

extension TransferError {
    /// Whether no byte of the body could be had, however often it was asked for.
    fileprivate var isOfWholeBody: Bool {
        switch self {
        case .length, .unaskedCoding: true
        default: false
        }
    }

    /// Whether the rest of the body was not wanted.
    fileprivate var isRefusal: Bool {
        switch self {
        case .refused: true
        case .client(let error): if case .refused? = error as? TransferError { true } else { false }
        default: false
        }
    }
}
