extension String {
    /// The beginning of a text that a server chose, for the sentence of an error: a field value, say, of
    /// which a server may send 100 KiB.
    ///
    /// | Text                       | `excerpt(4)` |
    /// |----------------------------|--------------|
    /// | `gzip`                     | `gzip`       |
    /// | `gzip, br`                 | `gzip…`      |
    ///
    /// - Parameter limit: in Unicode scalars, without the ellipsis. A character may have any number of them.
    /// - Returns: the text itself if it is no longer than that.
    func excerpt(_ limit: Int = 100) -> String {
        let scalars = unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: limit, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return self }
        return String(scalars[..<end]) + "…"
    }
}
