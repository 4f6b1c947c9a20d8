import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// Under which condition another file is wanted than the one that is there: the server has another one.
///
/// | What there is                                     | What is asked                               |
/// |---------------------------------------------------|---------------------------------------------|
/// | no file                                           | nothing: the file is wanted                 |
/// | a file with an entity tag                         | `If-None-Match`, with the tag as it came    |
/// | another file                                      | `If-Modified-Since`, with its modification time |
///
/// The tag is kept in the extended attribute `user.etag` of the file, where the file system has such. The modification time
/// is the one that the server named, if it named one. See
/// [RFC 9110 §13.1](https://www.rfc-editor.org/rfc/rfc9110#section-13.1).
struct FileCondition: Hashable, Sendable {
    private static let tagAttribute = ExtendedAttribute("user.etag")

    let name: String
    let value: String

    /// - Returns: `nil` where there is no regular file.
    init?(for file: URL) {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
        guard let attributes, attributes[.type] as? FileAttributeType == .typeRegular else { return nil }
        if let tag = Self.tagAttribute.value(ofFileAt: file.path), EntityTag(fieldValue: tag) != nil {
            (name, value) = ("If-None-Match", tag)
        } else if let date = attributes[.modificationDate] as? Date {
            (name, value) = ("If-Modified-Since", Self.text(date))
        } else {
            return nil
        }
    }

    /// Keeps with a file what its response said of it. A file system that cannot keep it is no reason to fail: then its
    /// time has to do.
    static func note(_ fields: HeaderFields, on file: URL) {
        guard let tag = fields["ETag"], EntityTag(fieldValue: tag) != nil else { return }
        try? tagAttribute.set(tag, ofFileAt: file.path)
    }

    /// [RFC 9110 §5.6.7](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7).
    private static func text(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: date)
    }
}
