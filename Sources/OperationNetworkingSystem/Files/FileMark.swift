/// The mark of a file that this library made, as its value: which kind of file it is.
///
/// It is an extended attribute (xattr(7)), set when the file is made and before a byte is in it. No server
/// can send one, so no downloaded file has it, whatever its name, its mode and its bytes are. A complete file
/// loses it.
///
/// Some systems keep attributes and refuse to set them (`EPERM`, `EIO`, `ENOSPC`). Whether that is so is
/// tried with a new file (``FileTrust``), for there a missing mark says nothing.
package enum FileMark: String, CaseIterable, Sendable {
    case part, checkpoint, journal

    static let attribute = ExtendedAttribute("user.operationnetworking.partial")

    /// The result of looking for a mark.
    package enum Finding: CaseIterable, Hashable, Sendable {
        case present
        /// None, or that of another kind.
        case missing
        /// The file system keeps no attributes.
        case unsupported
    }
}
