public import Foundation
internal import OperationNetworkingSystem

/// A multipart form, `multipart/form-data` ([RFC 7578](https://www.rfc-editor.org/rfc/rfc7578)).
///
/// ```swift
/// let answer = try await manager.post("", parameters: .form(["title": "Summer"]) { form in
///     try form.appendPart(withFileURL: photo, name: "photo")
///     form.appendPart(withFormData: Data("2026".utf8), name: "year")
/// })
/// ```
///
/// | Method                                          | `Content-Disposition`              | `Content-Type`        |
/// |-------------------------------------------------|------------------------------------|-----------------------|
/// | ``appendPart(withFormData:name:)``              | `form-data; name="n"`              | none                  |
/// | ``appendPart(withFileURL:name:)``               | `form-data; name="n"; filename="f"`| by the file extension |
/// | those with `fileName` and `mimeType`            | `form-data; name="n"; filename="f"`| as given              |
/// | ``appendPart(withHeaders:body:)``               | as given                           | as given              |
///
/// Names and file names are escaped as in browsers
/// ([WHATWG](https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data)):
/// `"` becomes `%22`, and line ends become `%0D` and `%0A`, so that no name can end its field. The
/// boundary has 64 random bits, so that no part can end itself. The exact length is known in advance. Files
/// and streams are read in pieces while the form is sent.
public struct MultipartFormData: Sendable {
    /// The packet size that AFNetworking suggests for slow networks, in bytes:
    /// `kAFUploadStream3GSuggestedPacketSize`.
    public static let suggestedPacketSizeFor3G = 16 * 1024
    /// The delay that AFNetworking suggests for slow networks, in seconds: `kAFUploadStream3GSuggestedDelay`.
    public static let suggestedDelayFor3G: TimeInterval = 0.2

    /// The boundary between parts.
    public let boundary: String
    private var segments = Segments()
    private var maximumRate: Int64?

    /// Creates an empty form with a random boundary, so that the content of a part cannot contain it.
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

    /// Appends a file under its own name, with the media type of its extension.
    ///
    /// - Parameters:
    ///   - url: the file. Its length is read now, its bytes when the form is sent.
    ///   - name: the name of the form field.
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
    ///   - url: the file. Its length is read now, its bytes when the form is sent.
    ///   - name: the name of the form field.
    ///   - fileName: the file name that is sent.
    ///   - mimeType: the media type, such as `image/png`.
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

    /// Appends a file from memory.
    ///
    /// - Parameters:
    ///   - data: the file's bytes.
    ///   - name: the name of the form field.
    ///   - fileName: the file name that is sent.
    ///   - mimeType: the media type, such as `image/png`.
    /// - Throws: ``RequestBodyError/invalidMIMEType(_:)``.
    public mutating func appendPart(
        withFileData data: Data,
        name: String,
        fileName: String,
        mimeType: String
    ) throws(RequestBodyError) {
        append(try fileHead(name, fileName, mimeType), .data(data))
    }

    /// Appends a file from a stream. The form can then be sent only once; sending it again is an error.
    ///
    /// - Parameters:
    ///   - stream: a stream that has not been opened. The caller must no longer use it.
    ///   - name: the name of the form field.
    ///   - fileName: the file name that is sent.
    ///   - length: the number of bytes to send; it is an error if the stream has fewer.
    ///   - mimeType: the media type, such as `image/png`.
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

    /// Appends a file from a stream that can be created again, so that the form can be sent repeatedly.
    ///
    /// - Parameters:
    ///   - name: the name of the form field.
    ///   - fileName: the file name that is sent.
    ///   - length: the number of bytes to send; it is an error if a stream has fewer.
    ///   - mimeType: the media type, such as `image/png`.
    ///   - makeStream: returns a new stream of the same bytes. Called synchronously on any thread, so it
    ///     cannot use actor-isolated state. Returning `nil` is an error.
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
    ///   - name: the name of the form field.
    public mutating func appendPart(withFormData data: Data, name: String) {
        append([("Content-Disposition", "form-data; name=\"\(Self.escape(name: name))\"")], .data(data))
    }

    /// Appends a part with custom fields.
    ///
    /// - Parameters:
    ///   - headers: the fields of the part. `Content-Disposition` comes first and `Content-Type` second; the
    ///     others are sorted by name.
    ///   - body: the value, sent as it is.
    /// - Throws: ``RequestSerializationError`` for an invalid field.
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

    /// Limits the upload rate to `packetSize` bytes per `delay`. Unlike in AFNetworking, which sleeps after
    /// each packet, the two values only define a rate. ``BandwidthLimit`` is more flexible.
    ///
    /// - Parameters:
    ///   - packetSize: the packet size in bytes.
    ///   - delay: the delay in seconds. If either value is not positive, the limit is removed.
    public mutating func throttleBandwidth(withPacketSize packetSize: Int, delay: TimeInterval) {
        guard packetSize > 0, delay > 0, delay.isFinite else { return maximumRate = nil }
        maximumRate = Int64(exactly: (Double(packetSize) / delay).rounded(.up))
    }

    // MARK: - Results

    /// Whether the form has no parts.
    public var isEmpty: Bool { segments.isEmpty }

    /// The value of the request's `Content-Type`.
    public var contentType: String {
        // A boundary that is not a token has to be quoted (RFC 2046 §5.1.1).
        "multipart/form-data; boundary=\(boundary.isHTTPToken ? boundary : "\"\(boundary)\"")"
    }

    /// The length of the encoded form in bytes; `nil` if the sum overflows.
    public var length: Int64? { body.length }

    /// The encoded form. Repeatable unless a part is a stream that is not.
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

    /// Escapes a field name, with line ends normalized to CR LF.
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

    /// Segments, with short data segments joined, because each segment is sent as a separate piece.
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
