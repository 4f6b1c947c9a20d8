internal import Foundation

/// An HTTP/2 frame: [RFC 9113 §4.1](https://www.rfc-editor.org/rfc/rfc9113#section-4.1).
struct HTTP2Frame: Equatable {
    static let (data, headers, reset) = (UInt8(0), UInt8(1), UInt8(3))
    static let (settings, ping, goAway) = (UInt8(4), UInt8(6), UInt8(7))
    static let (endStream, acknowledgment, endHeaders) = (UInt8(1), UInt8(1), UInt8(4))

    var type: UInt8
    var flags: UInt8 = 0
    var stream: UInt32 = 0
    var payload = Data()

    /// The frame on the wire.
    var bytes: Data {
        Data([UInt8(payload.count >> 16 & 255), UInt8(payload.count >> 8 & 255), UInt8(payload.count & 255)])
            + Data([type, flags]) + Self.bytes(of: stream) + payload
    }

    /// Removes the first frame from `bytes`; `nil` if more bytes are needed.
    static func take(from bytes: inout Data) -> HTTP2Frame? {
        let head = Array(bytes.prefix(9))
        guard head.count == 9 else { return nil }
        let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
        guard bytes.count >= 9 + length else { return nil }
        let stream = head[5...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let payload = Data(bytes.dropFirst(9).prefix(length))
        bytes = Data(bytes.dropFirst(9 + length))
        return HTTP2Frame(type: head[3], flags: head[4], stream: stream, payload: payload)
    }

    /// Most significant byte first.
    static func bytes(of number: UInt32) -> Data {
        withUnsafeBytes(of: number.bigEndian) { Data($0) }
    }

    /// Encodes the fields as HPACK literals, without indexing and without Huffman coding: [RFC 7541
    /// §6.2.2](https://www.rfc-editor.org/rfc/rfc7541#section-6.2.2).
    static func fieldBlock(_ fields: FieldLines) -> Data {
        fields.reduce(into: Data()) { block, line in
            block.append(0)
            for text in [line.name.lowercased(), line.value] {
                block += length(text.utf8.count)
                block += Data(text.utf8)
            }
        }
    }

    /// Encodes an integer with a seven-bit prefix: [RFC 7541
    /// §5.1](https://www.rfc-editor.org/rfc/rfc7541#section-5.1).
    private static func length(_ count: Int) -> Data {
        guard count >= 127 else { return Data([UInt8(count)]) }
        var bytes = Data([127])
        var rest = count - 127
        while rest >= 128 {
            bytes.append(UInt8(rest % 128 + 128))
            rest /= 128
        }
        bytes.append(UInt8(rest))
        return bytes
    }
}
