extension CachePolicy {
    /// The use of a 206 beside a stored part ([RFC 9111
    /// §3.4](https://www.rfc-editor.org/rfc/rfc9111#section-3.4), [RFC 9110
    /// §15.3.7.3](https://www.rfc-editor.org/rfc/rfc9110#section-15.3.7.3)).
    ///
    /// | Validators, lengths and codings  | The part                          | Then    |
    /// |----------------------------------|-----------------------------------|---------|
    /// | strong, and all the same         | begins behind the last held byte  | append  |
    /// |                                  | holds more bytes than are held    | replace |
    /// |                                  | otherwise                         | refuse  |
    /// | strong, and one differs          |                                   | replace |
    /// | weak or none                     |                                   | replace |
    ///
    /// - Parameters:
    ///   - stored: with the extent that is held.
    ///   - part: a 206, with the extent that its head announces.
    /// - Returns: the place of the part's bytes.
    func joining(_ stored: CachedHead, _ part: CachedHead) -> CacheJoining {
        guard part.head.status == 206 else { return .replace }
        guard stored.isContinuable, part.isContinuable, stored.url == part.url,
            stored.selecting == part.selecting, stored.authorization == part.authorization,
            stored.validator == part.validator,
            stored.fields.combined(for: "Content-Encoding") == part.fields.combined(for: "Content-Encoding"),
            Self.areEqual(stored.body.completeLength, part.body.completeLength)
        else { return .replace }
        guard !stored.body.isComplete else { return .refuse }
        guard part.body.range.lowerBound == stored.body.range.upperBound else {
            return part.body.count > stored.body.count ? .replace : .refuse
        }
        var joined = stored
        Self.update(
            &joined,
            with: part.fields,
            requestTime: part.requestTime,
            responseTime: part.responseTime
        )
        joined.isInvalidated = false
        // Of the part that came first.
        for name in ["Content-Digest", "Content-MD5"] where stored.head.status == 206 {
            joined.head.fields[name] = nil
        }
        joined.body.range = stored.body.range.lowerBound..<part.body.range.upperBound
        joined.body.completeLength = stored.body.completeLength ?? part.body.completeLength
        if joined.body.completeLength == nil {
            // The end of a part is not the end of the whole.
            joined.head.status = 206
        }
        return .append(joined)
    }

    private static func areEqual(_ one: Int64?, _ other: Int64?) -> Bool {
        one == nil || other == nil || one == other
    }
}
