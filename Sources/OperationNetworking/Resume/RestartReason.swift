/// Why bytes that were there already were thrown away, and the whole was fetched again.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum RestartReason: String, Hashable, Sendable, Codable, CaseIterable {
    /// The server has other bytes than before: its validator, its length or its condition says so.
    case resourceChanged
    /// The server names another entity tag for a file of the same length and date: a tag that differs between the
    /// servers behind one name, most likely.
    case entityTagChanged
    /// The server sent the whole although a part was asked for, and said nothing against the bytes that were
    /// there.
    case rangeIgnored
    /// No strong validator proves that the server still has the same bytes.
    case validatorMissing
    /// The bytes were, or would be, those of a content coding, in which ranges count differently.
    case contentCoded
    /// The server had said that it does not serve ranges.
    case rangesRefused
    /// The request is not the one that the bytes were an answer to: another method, body, field or address.
    case requestChanged
    /// The server's answer to a range made no sense, twice or beyond doubt.
    case invalidAnswer
    /// The server refused the range (416).
    case rangeNotSatisfiable
    /// Bytes that came again were not those that were there.
    case overlapDiffers
    /// The server now sends another type, or names another location.
    case variantChanged
    /// All bytes came, and their digest was not the expected one.
    case digestMismatch
    /// The file on the disk has lost bytes, or was changed.
    case dataLost
    /// The checkpoint of the file on the disk cannot be read.
    case checkpointUnreadable
    /// The bytes began with a copy of a file that another program had made, and no digest of the whole is expected
    /// that could prove them.
    case foreignCopy
    /// The request has a `Range` of its own: the answer to that is never continued.
    case ownRange
    /// Nothing proves that what was noted of the file on the disk was noted here: the file system cannot keep
    /// that, and the machine was started, or the file system mounted, since.
    case checkpointUnproven
    /// The bytes came from servers that were verified in another way, or not at all: another security policy,
    /// other authorities, or a challenge's closure had accepted them.
    case verificationChanged
}

// MARK: - CustomStringConvertible

extension RestartReason: CustomStringConvertible {
    /// A clause, to stand behind "because".
    public var description: String {
        switch self {
        case .resourceChanged: "the file changed on the server"
        case .entityTagChanged: "the server names another ETag, with the same length and date"
        case .rangeIgnored: "the server sends only the whole file"
        case .validatorMissing: "the server gives no proof that the file is still the same"
        case .contentCoded: "the server compressed the file"
        case .rangesRefused: "the server does not serve parts of files"
        case .requestChanged: "the request is not the same as before"
        case .invalidAnswer: "the server answered a range with nonsense"
        case .rangeNotSatisfiable: "the server refused the rest of the file"
        case .overlapDiffers: "bytes that came again were others than before"
        case .variantChanged: "the server now sends another kind of file"
        case .digestMismatch: "the checksum was wrong"
        case .dataLost: "the partial file was damaged"
        case .checkpointUnreadable: "the checkpoint of the partial file cannot be read"
        case .foreignCopy: "the partial file was begun with another program's file, and no digest is expected"
        case .ownRange: "the answer to a Range of one's own is never continued"
        case .verificationChanged: "the server was verified in another way when the bytes came"
        case .checkpointUnproven: "nothing proves that the partial file is of an earlier download"
        }
    }
}
