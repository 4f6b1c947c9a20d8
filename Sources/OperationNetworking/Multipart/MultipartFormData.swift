public import Foundation
internal import OperationNetworkingSystem

/// A form of several parts, as `multipart/form-data` ([RFC 7578](https://www.rfc-editor.org/rfc/rfc7578)).
///
/// | Method                                          | `Content-Disposition`              | `Content-Type`        |
/// |-------------------------------------------------|------------------------------------|-----------------------|
/// | ``appendPart(withFormData:name:)``              | `form-data; name="n"`              | none                  |
/// | ``appendPart(withFileURL:name:)``               | `form-data; name="n"; filename="f"`| by the file extension |
/// | those with `fileName` and `mimeType`            | `form-data; name="n"; filename="f"`| as given              |
/// | ``appendPart(withHeaders:body:)``               | as given                           | as given              |
///
/// Names and file names are escaped as browsers do it
/// ([WHATWG](https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data)):
/// `"` is `%22`, and line ends are `%0D` and `%0A`, so that no name can end its field. The length is known to
/// the byte, and files and streams are read when the form is sent, a piece at a time.
public struct MultipartFormData: Sendable {
    /// The packet size that AFNetworking suggests for slow networks, in bytes:
    /// `kAFUploadStream3GSuggestedPacketSize`.
    public static let suggestedPacketSizeFor3G = 16 * 1024
    /// The delay that AFNetworking suggests for slow networks, in seconds: `kAFUploadStream3GSuggestedDelay`.
    public static let suggestedDelayFor3G: TimeInterval = 0.2

    /// The separator of the parts.
    public let boundary: String
    private var segments = Segments()
    private var maximumRate: Int64?

    /// An empty form with a random boundary, so that no content of a part can end it.
    public init() {
        var generator = SystemRandomNumberGenerator()
        let digits = String(generator.next(), radix: 16, uppercase: true)
        boundary = "Boundary+" + String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// - Parameter boundary: 1 to 70 letters, digits and `'()+_,-./:=?`; it must not occur in any part.
    /// - Throws: ``RequestBodyError/invalidBoundary(_:)``.
    public init(boundary: String) throws(RequestBodyError) {
        let marks = Set("'()+_,-./:=?".utf8)
        let isValid = boundary.utf8.allSatisfy {
            $0.isASCIIDigit || $0.lowercasedASCII &- UInt8(ascii: "a") < 26 || marks.contains($0)
        }
        guard isValid, (1...70).contains(boundary.utf8.count) else { throw .invalidBoundary(boundary) }
        self.boundary = boundary
    }

    // MARK: - Appending

    /// Appends a file under its own name, with the type that its extension stands for.
    ///
    /// - Parameters:
    ///   - url: the file; its length is taken now, its bytes when the form is sent.
    ///   - name: of the form's field.
    /// - Throws: ``RequestBodyError``.
    public mutating func appendPart(withFileURL url: URL, name: String) throws(RequestBodyError) {
        try appendPart(
            withFileURL: url,
            name: name,
            fileName: url.lastPathComponent,
            mimeType: MediaTypes.type(ofExtension: url.pathExtension)
        )
    }

    /// Appends a file.
    ///
    /// - Parameters:
    ///   - url: the file; its length is taken now, its bytes when the form is sent.
    ///   - name: of the form's field.
    ///   - fileName: the name for the server.
    ///   - mimeType: such as `image/png`.
    /// - Throws: ``RequestBodyError``.
    public mutating func appendPart(
        withFileURL url: URL,
        name: String,
        fileName: String,
        mimeType: String
    ) throws(RequestBodyError) {
        let head = try fileHead(name, fileName, mimeType)
        append(head, try .file(at: url))
    }

    /// Appends a file that is in memory.
    ///
    /// - Parameters:
    ///   - data: the file's bytes.
    ///   - name: of the form's field.
    ///   - fileName: the name for the server.
    ///   - mimeType: such as `image/png`.
    /// - Throws: ``RequestBodyError/invalidMIMEType(_:)``.
    public mutating func appendPart(
        withFileData data: Data,
        name: String,
        fileName: String,
        mimeType: String
    ) throws(RequestBodyError) {
        append(try fileHead(name, fileName, mimeType), .data(data))
    }

    /// Appends a file that comes from a stream. The form can be sent once: what needs it again is an error.
    ///
    /// - Parameters:
    ///   - stream: not yet opened, and not used by the caller from here on.
    ///   - name: of the form's field.
    ///   - fileName: the name for the server.
    ///   - length: the number of its bytes to send; it is an error if it has fewer.
    ///   - mimeType: such as `image/png`.
    /// - Throws: ``RequestBodyError/invalidMIMEType(_:)`` or ``RequestBodyError/negativeLength(_:_:)``.
    public mutating func appendPart(
        withInputStream stream: InputStream,
        name: String,
        fileName: String,
        length: Int64,
        mimeType: String
    ) throws(RequestBodyError) {
        let head = try fileHead(name, fileName, mimeType)
        append(head, .stream(try StreamSegment(stream, length: length, name: "the part \(name)").checked()))
    }

    /// Appends a file that comes from a stream which can be made again, as often as the form is sent.
    ///
    /// - Parameters:
    ///   - name: of the form's field.
    ///   - fileName: the name for the server.
    ///   - length: the number of bytes to send; it is an error if a stream has fewer.
    ///   - mimeType: such as `image/png`.
    ///   - makeStream: a new stream of the same bytes; called on any thread, and at once: so it cannot use
    ///     what belongs to an actor. `nil` is an error.
    /// - Throws: ``RequestBodyError/invalidMIMEType(_:)`` or ``RequestBodyError/negativeLength(_:_:)``.
    public mutating func appendPart(
        name: String,
        fileName: String,
        length: Int64,
        mimeType: String,
        makeStream: @escaping @Sendable () -> InputStream?
    ) throws(RequestBodyError) {
        let head = try fileHead(name, fileName, mimeType)
        let segment = StreamSegment(length: length, name: "the part \(name)", make: makeStream)
        append(head, .stream(try segment.checked()))
    }

    /// Appends the value of a field.
    ///
    /// - Parameters:
    ///   - data: the value, sent as it is.
    ///   - name: of the form's field.
    public mutating func appendPart(withFormData data: Data, name: String) {
        append([("Content-Disposition", "form-data; name=\"\(Self.escape(name: name))\"")], .data(data))
    }

    /// Appends a part with fields of your own.
    ///
    /// - Parameters:
    ///   - headers: `Content-Disposition` comes first and `Content-Type` next, the others in the order of
    ///     their names.
    ///   - body: the value, sent as it is.
    /// - Throws: ``RequestSerializationError`` for a field that would not arrive as it is.
    public mutating func appendPart(
        withHeaders headers: [String: String],
        body: Data
    ) throws(RequestSerializationError) {
        let rank: (String) -> Int = { name in
            ["content-disposition", "content-type"].firstIndex(of: name.lowercased()) ?? 2
        }
        let sorted = headers.sorted {
            rank($0.key) == rank($1.key) ? $0.key < $1.key : rank($0.key) < rank($1.key)
        }
        for (name, value) in sorted { try RequestSerializationError.check(name: name, value: value) }
        append(sorted.map { ($0.key, $0.value) }, .data(body))
    }

    /// Limits the rate of sending to `packetSize` bytes per `delay`. AFNetworking sleeps after each packet;
    /// here the two only mean a rate, and nothing sleeps. ``BandwidthLimit`` does more.
    ///
    /// - Parameters:
    ///   - packetSize: in bytes.
    ///   - delay: in seconds. What is not above 0, here or there, takes the limit away.
    public mutating func throttleBandwidth(withPacketSize packetSize: Int, delay: TimeInterval) {
        guard packetSize > 0, delay > 0, delay.isFinite else { return maximumRate = nil }
        maximumRate = Int64(exactly: (Double(packetSize) / delay).rounded(.up))
    }

    // MARK: - Results

    /// Whether nothing was appended.
    public var isEmpty: Bool { segments.isEmpty }

    /// The value of the request's `Content-Type`.
    public var contentType: String {
        // What is no token has to be quoted (RFC 2046 §5.1.1).
        "multipart/form-data; boundary=\(boundary.isHTTPToken ? boundary : "\"\(boundary)\"")"
    }

    /// The length of the encoded form in bytes; `nil` when the sum of the parts overflows.
    public var length: Int64? { body.length }

    /// The encoded form. Repeatable unless a part comes from a stream that is not.
    public var body: BodySource {
        var segments = segments
        segments.append(Data("\r\n--\(boundary)--\r\n".utf8))
        return BodySource(segments.list, maximumRate: maximumRate)
    }

    // MARK: - Private

    private mutating func append(_ head: [(name: String, value: String)], _ body: BodySegment) {
        let fields = head.map { "\($0.name): \($0.value)\r\n" }.joined()
        segments.append(Data("\(isEmpty ? "" : "\r\n")--\(boundary)\r\n\(fields)\r\n".utf8))
        segments.append(body)
    }

    private func fileHead(
        _ name: String,
        _ fileName: String,
        _ mimeType: String
    ) throws(RequestBodyError) -> [(name: String, value: String)] {
        guard !mimeType.isEmpty, mimeType.isHTTPFieldValue else { throw .invalidMIMEType(mimeType) }
        let disposition =
            "form-data; name=\"\(Self.escape(name: name))\"; filename=\"\(Self.escape(fileName: fileName))\""
        return [("Content-Disposition", disposition), ("Content-Type", mimeType)]
    }

    /// A field's name: each line end is made CR LF before it is escaped.
    private static func escape(name: String) -> String {
        var lines: [Substring] = []
        var rest = name.utf8[...]
        while let end = rest.firstIndex(where: { $0 == 0x0D || $0 == 0x0A }) {
            lines.append(Substring(rest[..<end]))
            let next = rest.index(after: end)
            let isPair = rest[end] == 0x0D && next < rest.endIndex && rest[next] == 0x0A
            rest = rest[(isPair ? rest.index(after: next) : next)...]
        }
        lines.append(Substring(rest))
        return lines.map { escape(fileName: String($0)) }.joined(separator: "%0D%0A")
    }

    private static func escape(fileName: String) -> String {
        var escaped = ""
        for scalar in fileName.unicodeScalars {
            switch scalar {
            case "\"": escaped += "%22"
            case "\r": escaped += "%0D"
            case "\n": escaped += "%0A"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Segments in which short runs of data are joined: each one is a piece of its own when it is sent.
    private struct Segments {
        private static let longestCopy = 16 * 1024
        private(set) var list: [BodySegment] = []

        var isEmpty: Bool { list.isEmpty }

        mutating func append(_ data: Data) { append(.data(data)) }

        mutating func append(_ segment: BodySegment) {
            guard case .data(let data) = segment, data.count <= Self.longestCopy,
                case .data(var last)? = list.last, last.count <= Self.longestCopy
            else { return list.append(segment) }
            list.removeLast()
            last.append(data)
            list.append(.data(last))
        }
    }
}
