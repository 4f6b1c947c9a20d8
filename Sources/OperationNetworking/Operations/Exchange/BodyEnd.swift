/// The consequence of the end of a body, when its head decided nothing else: a value that decides.
///
/// | error     | use of the body            | and                          | follows               |
/// |-----------|----------------------------|------------------------------|-----------------------|
/// | untrusted | any                        |                              | ``askAboutServer``    |
/// | refusal   | kept aside                 |                              | ``finish``            |
/// | any       | kept aside                 | it only explains             | ``finish``            |
/// | any       | any                        | was held, and cannot go on   | ``changed``           |
/// | any       | any                        |                              | ``retry``             |
/// | none      | skipped                    |                              | ``changed``           |
/// | none      | checked                    |                              | ``differs``           |
/// | none      | delivered                  | less than a rest asked for   | ``askForMore``        |
/// | none      | delivered                  | not as long as it said       | ``wrongLength``       |
/// | none      | any                        |                              | ``finish``            |
///
/// The first row that matches counts.
enum BodyEnd: Hashable {
    /// The security policy refused the server: the challenge closure may know it.
    case askAboutServer
    /// The response is the result.
    case finish
    /// The server has other bytes than those that are held.
    case changed
    /// The error is the result, unless there is another attempt.
    case retry
    /// The body ended within the bytes that it had to repeat.
    case differs
    /// The server sent less than it was asked for (S4).
    case askForMore
    /// The body is longer or shorter than its head said.
    case wrongLength

    /// The kind of a transfer's error.
    enum Failure: Hashable {
        /// The security policy refused the server.
        case untrusted
        /// The rest of the body was not wanted.
        case refusal
        case other
    }

    /// The facts that are known when the body has ended.
    struct Facts: Hashable {
        /// `nil`: it came whole, as far as HTTP can tell.
        var failure: Failure?
        var use = BodyUse.deliver
        /// Whether the body of a response that is no success only says why there is no other.
        var bodyExplains = false
        /// Whether the transfer was held during a pause, and what is held cannot be continued by another.
        var wasHeldForGood = false
        var isShort = false
        var hasWrongLength = false
    }

    init(_ facts: Facts) {
        switch (facts.failure, facts.use) {
        case (.untrusted, _):
            self = .askAboutServer
        case (.refusal, .keepAside):
            self = .finish
        case (.some, .keepAside) where facts.bodyExplains:
            // The status is the reason, however its explanation ended.
            self = .finish
        case (.some, _):
            self = facts.wasHeldForGood ? .changed : .retry
        case (nil, .skip):
            self = .changed
        case (nil, .check):
            self = .differs
        case (nil, .deliver) where facts.isShort:
            self = .askForMore
        case (nil, .deliver) where facts.hasWrongLength:
            self = .wrongLength
        case (nil, .deliver), (nil, .compare), (nil, .keepAside), (nil, .drop), (nil, .discard):
            self = .finish
        }
    }
}
