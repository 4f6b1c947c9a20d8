import Foundation
internal import OperationNetworkingSystem

/// A contiguous part of a ``BodySource`` from one origin.
enum BodySegment: Sendable {
    case data(Data)
    /// A file, and its length when the segment was created.
    case file(path: String, length: Int64)
    case stream(StreamSegment)

    /// Returns a segment for a file with its current length.
    static func file(at url: URL) throws(RequestBodyError) -> BodySegment {
        guard url.namesLocalFile else { throw .notAFileURL(url.absoluteString) }
        do {
            let file = try InputFile(path: url.path)
            let length = try file.length
            // Files of proc(5) report a length of 0 but are not empty.
            if length == 0, try !file.read(atMost: 1).isEmpty {
                throw SystemError(ESPIPE, "read \(url.path)")
            }
            return .file(path: url.path, length: length)
        } catch {
            throw RequestBodyError(error, path: url.path)
        }
    }

    /// The length in bytes; `nil` if it is not known in advance.
    var length: Int64? {
        switch self {
        case .data(let data): Int64(data.count)
        case .file(_, let length): length
        case .stream(let stream): stream.length
        }
    }

    /// Whether it can be read more than once.
    var isRepeatable: Bool {
        switch self {
        case .data, .file: true
        case .stream(let stream): stream.isRepeatable
        }
    }
}

/// A caller's stream as part of a body.
struct StreamSegment: @unchecked Sendable {
    // @unchecked: `stream` was handed over by its creator, and is used only by the one reader that `use`
    // admits.

    /// The number of bytes to read; `nil` for all. ``open()`` throws if it is negative.
    let length: Int64?
    /// The stream's name in errors.
    let name: String
    private let stream: InputStream?
    private let use = StreamUse()
    private let make: (@Sendable () -> InputStream?)?

    init(_ stream: InputStream, length: Int64?, name: String) {
        self.length = length
        self.name = name
        self.stream = stream
        make = nil
    }

    init(length: Int64?, name: String, make: @escaping @Sendable () -> InputStream?) {
        self.length = length
        self.name = name
        self.make = make
        stream = nil
    }

    var isRepeatable: Bool { make != nil }

    /// Returns itself; throws if the length is negative.
    func checked() throws(RequestBodyError) -> StreamSegment {
        if let length, length < 0 { throw .negativeLength(name, length) }
        return self
    }

    /// Returns an open stream at its first byte.
    /// - Throws: ``RequestBodyError``, ``StreamError``, or the stream's own error.
    func open() throws -> (InputStream, ClaimedStream) {
        _ = try checked()
        let made = make?()
        guard let fresh = made ?? (use.begin() ? stream : nil) else {
            throw make == nil ? RequestBodyError.streamUsed(name) : .streamNotMade(name)
        }
        return (fresh, try ClaimedStream(opening: fresh))
    }
}
