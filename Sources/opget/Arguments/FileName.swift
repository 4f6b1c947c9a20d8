import Foundation
import OperationNetworking

/// The name of one file, without a directory: see `SafeFilename`.
struct FileName: Hashable, Sendable {
    let text: String

    /// The name that an address suggests: the last part of its path, decoded; `index.html` if there is none.
    ///
    /// - Throws: `Failure` when it is `.` or `..`.
    init(suggestedBy url: URL) throws {
        guard let name = SafeFilename(lastPartOf: url) else {
            throw Failure(.usage, "The address ends in \".\" or \"..\", which is no file's name; use -o.")
        }
        text = name.text
    }
}
