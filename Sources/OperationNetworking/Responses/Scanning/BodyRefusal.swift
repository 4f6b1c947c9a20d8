/// Why a body is not given to a parser of Foundation.
///
/// The scanners of this folder read a body beforehand, each in one pass, since Foundation trusts bodies too
/// much: it ends the process on some, and takes memory or time without end for others. A scanner is strict
/// where it looks, so that the parser cannot see other markup; it does not check that a body is well-formed.
struct BodyRefusal: Error, Hashable, Sendable {
    /// The limit of the values of a body, or the nodes of a document, when every reference is followed: about
    /// 1 GiB. Foundation takes 130 to 250 octets for most of them.
    static let maximumValueCount = 4_000_000

    /// One sentence.
    let sentence: String

    init(_ sentence: String) {
        self.sentence = sentence
    }

    init(_ reason: String, at offset: Int) {
        sentence = "\(reason) (octet \(offset))."
    }
}
