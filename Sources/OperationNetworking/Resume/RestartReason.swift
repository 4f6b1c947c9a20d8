/// Why earlier bytes were discarded, and the whole was downloaded again.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum RestartReason: String, Hashable, Sendable, Codable, CaseIterable {
    /// The file has changed: the validator, the length or the condition shows it.
    case resourceChanged
    /// The entity tag has changed, but not the length and the date: most likely, several servers behind one name use
    /// different tags.
    case entityTagChanged
    /// The server sent the whole although a part was requested, and nothing shows that the file has changed.
    case rangeIgnored
    /// No strong validator proves that the file has not changed.
    case validatorMissing
    /// The bytes have, or would have, a content coding, to which ranges then refer.
    case contentCoded
    /// The server does not serve ranges.
    case rangesRefused
    /// The request differs from that of the bytes: another method, body, field or URL.
    case requestChanged
    /// The server's response to a range was invalid.
    case invalidResponse
    /// The server refused the range (416).
    case rangeNotSatisfiable
    /// Bytes that were received again differed.
    case overlapDiffers
    /// The server now sends another media type, or names another location.
    case variantChanged
    /// The file was complete, and its digest was wrong.
    case digestMismatch
    /// The partial file has lost bytes, or was changed.
    case dataLost
    /// The checkpoint cannot be read.
    case checkpointUnreadable
    /// The bytes began with a copy of another program's file, and no digest is expected that could verify them.
    case foreignCopy
    /// The request has its own `Range`, whose response is never resumed.
    case ownRange
    /// Nothing proves that a download of this user wrote the checkpoint for this partial file, for example because
    /// the file was copied, or because the file system does not record the necessary attributes.
    case checkpointUnproven
    /// The servers of the bytes were verified in another way: by another security policy, by other authorities, by a
    /// challenge closure, or not at all.
    case verificationChanged
}

// MARK: - CustomStringConvertible

extension RestartReason: CustomStringConvertible {
    /// A clause that follows "because".
    public var description: String {
        switch self {
        case .resourceChanged: "the file changed on the server"
        case .entityTagChanged: "the server sent another ETag, with the same length and date"
        case .rangeIgnored: "the server sends only the whole file"
        case .validatorMissing: "the server gives no proof that the file is still the same"
        case .contentCoded: "the server compressed the file"
        case .rangesRefused: "the server does not serve parts of files"
        case .requestChanged: "the request is not the same as before"
        case .invalidResponse: "the server sent an invalid response to a range"
        case .rangeNotSatisfiable: "the server refused the rest of the file"
        case .overlapDiffers: "bytes that were received again were different"
        case .variantChanged: "the server now sends another kind of file"
        case .digestMismatch: "the checksum was wrong"
        case .dataLost: "the partial file was damaged"
        case .checkpointUnreadable: "the checkpoint of the partial file cannot be read"
        case .foreignCopy: "the partial file began as another program's file, and no digest is expected"
        case .ownRange: "the response to your own Range is never resumed"
        case .verificationChanged: "the server was verified in another way when the bytes were received"
        case .checkpointUnproven: "nothing proves that an earlier download wrote the partial file"
        }
    }
}
