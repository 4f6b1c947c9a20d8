/// The reason why a body is not passed to a parser of Foundation.
///
/// The scanners in this folder read a body in one pass before Foundation parses it, because Foundation trusts
/// bodies too much: some crash the process, and others take unlimited memory or time. Where a scanner checks
/// something it is strict, so that the parser cannot see different markup. It does not check whether a body
/// is well-formed.
struct BodyRefusal: Error, Hashable, Sendable {
    /// The maximum number of values of a body, or of nodes of a document, after following every reference.
    /// That is about 1 GiB: Foundation takes 130 to 250 octets for most of them.
    static let maximumValueCount = 4_000_000

    /// A sentence.
    let sentence: String

    init(_ sentence: String) {
        self.sentence = sentence
    }

    init(_ reason: String, at offset: Int) {
        sentence = "\(reason) (octet \(offset))."
    }
}
