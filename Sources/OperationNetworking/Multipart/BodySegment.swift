import Foundation
internal import OperationNetworkingSystem

/// One run of bytes of a ``BodySource``, all from the same place.
enum BodySegment: Sendable {
    case data(Data)
    /// A file, and how long it was when it was taken.
    case file(path: String, length: Int64)
    case stream(StreamSegment)

    /// The file as it is now.
    static func file(at url: URL) throws(RequestBodyError) -> BodySegment {
        guard url.namesLocalFile else { throw .notAFileURL(url.absoluteString) }
        do {
            let file = try InputFile(path: url.path)
            let length = try file.length
            // The files of proc(5) say that they are empty, and are not.
            if length == 0, try !file.read(atMost: 1).isEmpty {
                throw SystemError(ESPIPE, "read \(url.path)")
            }
            return .file(path: url.path, length: length)
        } catch {
            throw RequestBodyError(error, path: url.path)
        }
    }

    /// In bytes; `nil`: known only at the end.
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

/// A stream of the user's as a part of a body.
struct StreamSegment: @unchecked Sendable {
    // @unchecked: `stream` was handed over by its maker, and is used only by the one reader that `use` lets
    // in.

    /// `nil`: all that the stream has; a negative one is an error of ``open()``.
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

    /// Itself, if its length is none that no stream has.
    func checked() throws(RequestBodyError) -> StreamSegment {
        if let length, length < 0 { throw .negativeLength(name, length) }
        return self
    }

    /// A stream at its first byte, open.
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
