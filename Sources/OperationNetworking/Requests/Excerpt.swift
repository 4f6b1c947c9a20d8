extension String {
    /// Returns the beginning of a text from a server for an error description. A field value, for example,
    /// may have 100 KiB.
    ///
    /// | Text                       | `excerpt(4)` |
    /// |----------------------------|--------------|
    /// | `gzip`                     | `gzip`       |
    /// | `gzip, br`                 | `gzip…`      |
    ///
    /// - Parameter limit: in Unicode scalars, without the ellipsis. A character may have any number of
    ///   scalars.
    /// - Returns: the text itself if it is not longer than that.
    func excerpt(_ limit: Int = 100) -> String {
        let scalars = unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: limit, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return self }
        return String(scalars[..<end]) + "…"
    }
}
