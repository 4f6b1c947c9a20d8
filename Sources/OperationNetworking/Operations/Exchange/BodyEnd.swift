/// What follows the end of a body, if its head decided nothing else.
///
/// | error     | use of the body      | and                               | follows             |
/// |-----------|----------------------|-----------------------------------|---------------------|
/// | untrusted | any                  |                                   | ``askAboutServer``  |
/// | expired   | any                  |                                   | ``again``           |
/// | rejected  | buffered separately  |                                   | ``finish``          |
/// | any       | buffered separately  | it only explains                  | ``finish``          |
/// | unusable  | buffered separately  |                                   | ``lost``            |
/// | any       | any                  | was held, and cannot be continued | ``changed``         |
/// | any       | any                  |                                   | ``retry``           |
/// | none      | skipped              |                                   | ``changed``         |
/// | none      | checked              |                                   | ``differs``         |
/// | none      | delivered            | less than the requested rest      | ``askForMore``      |
/// | none      | delivered            | not of the announced length       | ``wrongLength``     |
/// | none      | any                  |                                   | ``finish``          |
///
/// The first matching row applies.
enum BodyEnd {
    /// The security policy rejected the server; the challenge closure may accept it.
    case askAboutServer(ServerTrustError)
    /// Nothing was sent: repeat the request with another token.
    case again
    /// The response is the result.
    case finish
    /// The body of the response cannot be delivered: this is the error, unless the status already is one.
    case lost(TransferError)
    /// The server's bytes differ from those already held.
    case changed
    /// Retry, or else fail with the error.
    case retry(TransferError)
    /// The body ended within the bytes that overlap with those already held.
    case differs
    /// The server sent fewer bytes than requested (S4).
    case askForMore
    /// The body is longer or shorter than its head announced: this is the error.
    case wrongLength(any Error)

    /// The facts that are known when the body has ended.
    struct Facts {
        /// `nil` if the body is complete, as far as HTTP can tell.
        var error: TransferError?
        var use = BodyUse.deliver
        /// Whether the body of an unsuccessful response is only an explanation.
        var bodyExplains = false
        /// Whether the transfer was held during a pause and cannot be resumed by another one.
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
        case (_, .bufferSeparately) where error.isRefusal || facts.bodyExplains:
            // The status is the error, however the explanation ended.
            self = .finish
        case (_, .bufferSeparately) where error.isOfWholeBody:
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
        case .compare, .bufferSeparately, .drop, .discard: self = .finish
        }
    }
}

extension TransferError {
    /// Whether repeating the request cannot make the body usable.
    fileprivate var isOfWholeBody: Bool {
        switch self {
        case .length, .unrequestedCoding: true
        default: false
        }
    }

    /// Whether the client stopped receiving the body.
    fileprivate var isRefusal: Bool {
        switch self {
        case .refused: true
        case .client(let error): if case .refused? = error as? TransferError { true } else { false }
        default: false
        }
    }
}
