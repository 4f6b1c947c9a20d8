import Foundation
import OperationNetworkingSystem
import Testing

/// "hello, hello, hello" in the codings of RFC 9110 §8.4.1, as made by Python's gzip and zlib, by libbrotlienc and
/// by zstd(1).
private enum Coded {
    static let text = "hello, hello, hello"
    static let gzip = bytes("H4sIAAAAAAACA8tIzcnJ11HIQKIAn6HKCRMAAAA=")
    static let zlib = bytes("eNrLSM3JyddRyECiAEQoBtU=")
    static let raw = bytes("y0jNycnXUchAogA=")
    static let brotli = bytes("GxIA+I2Ubt5ECVKGlmwsbxFPJNBxAA==")
    /// With a checksum.
    static let zstd = bytes("KLUv/QRYbQAAOGhlbGxvLCABAOKKEXXzmI4=")
    /// A skippable frame (RFC 8878 §3.1.2) of three octets.
    static let skippable = bytes("UCpNGAMAAABhYmM=")

    static let all = [("gzip", gzip), ("deflate", zlib), ("deflate", raw), ("br", brotli), ("zstd", zstd)]

    /// A mebibyte of zeros, in gzip.
    static let megabyteOfZeros =
        "H4sIAAAAAAACA+3BMQEAAADCoPVPbQhfo" + String(repeating: "A", count: 1355) + "PgMc6jinAAAQAA=="

    /// A mebibyte of zeros, in the other codings; in zstd with the largest window that is allowed.
    static let brotliZeros = "W///j38CIB4LBHLvHwA="
    static let zstdZeros = "KLUv/QRoTAAACAABAPz/ORACAgAQAAIAEAACABAAAgAQAAIAEAACABAAAwAQAPE+FuE="

    /// Deflate, and gzip around it.
    static let deflateGzip = bytes("H4sIAAAAAAACA6u4ddrj7MmT1wNPOCxicNFguwoAUQ6lrREAAAA=")
    /// Gzip, and deflate around it.
    static let gzipDeflate = bytes("eNqT7+ZgAAEm5tMeZ0+evB54wmERw/yFpziFgYIAfw4JIg==")
    /// The first bytes of ``zlib``, in gzip.
    static let gzipOfPiece = bytes("H4sIAAAAAAACA6u4ddrj7MmT1wMBVE4VQQkAAAA=")
    /// Nothing, in gzip.
    static let gzipOfNothing = bytes("H4sIAAAAAAACAwMAAAAAAAAAAAA=")

    static func bytes(_ base64: String) -> [UInt8] {
        Data(base64Encoded: base64).map { Array($0) } ?? []
    }
}

extension ContentDecoder {
    /// Decodes all of a piece.
    fileprivate func decode(
        _ bytes: Span<UInt8>,
        checking check: (Int64) throws -> Void = { _ in },
        _ body: (Span<UInt8>) throws -> Void
    ) throws {
        append(bytes)
        _ = try decode(atMost: .max, checking: check, body)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct ContentDecoderTests {
    /// Decodes pieces of at most `size` bytes, and says that it was all.
    private func decode(_ coded: [UInt8], as coding: String, size: Int = .max) throws -> String {
        let decoder = try #require(ContentDecoder(contentEncoding: coding))
        var decoded = Data()
        var rest = coded[...]
        while !rest.isEmpty {
            try decoder.decode(Array(rest.prefix(size)).span) { decoded.append($0) }
            rest = rest.dropFirst(size)
        }
        try decoder.finish()
        return String(decoding: decoded, as: UTF8.self)
    }

    private func isMalformed(_ coded: [UInt8], as coding: String, size: Int = .max) -> Bool {
        do {
            _ = try decode(coded, as: coding, size: size)
            return false
        } catch {
            guard case .malformed? = error as? ContentDecodingFailure else { return false }
            return true
        }
    }

    @Test(arguments: [
        ("gzip", Coded.gzip), ("x-gzip", Coded.gzip), ("GZip", Coded.gzip),
        ("deflate", Coded.zlib), ("deflate", Coded.raw), ("br", Coded.brotli), ("BR", Coded.brotli),
        ("zstd", Coded.zstd),
    ])
    func everyCodingIsDecoded(coding: String, coded: [UInt8]) throws {
        #expect(try decode(coded, as: coding) == Coded.text)
    }

    @Test(arguments: Coded.all)
    func aBodyMayComeByteByByte(coding: String, coded: [UInt8]) throws {
        #expect(try decode(coded, as: coding, size: 1) == Coded.text)
    }

    @Test(arguments: [1, 5, .max])
    func everyMemberOfAGzipBodyCounts(size: Int) throws {
        #expect(try decode(Coded.gzip + Coded.gzip, as: "gzip", size: size) == Coded.text + Coded.text)
    }

    @Test(arguments: Coded.all)
    func aBodyCutOffAnywhereIsTruncated(coding: String, coded: [UInt8]) {
        for count in 1..<coded.count {
            for size in [1, .max] {
                #expect(throws: ContentDecodingFailure.truncated, "after \(count) bytes") {
                    try decode(Array(coded[..<count]), as: coding, size: size)
                }
            }
        }
    }

    @Test("With any octet changed, the result does not depend on the pieces", arguments: Coded.all)
    func survivesDamage(coding: String, coded: [UInt8]) {
        for index in coded.indices {
            for octet in [0, 1, 0x7F, 0x80, 0xFF, coded[index] ^ 1, coded[index] ^ 0x10] as [UInt8] {
                var damaged = coded
                damaged[index] = octet
                let decoded = [1, .max].map { try? decode(damaged, as: coding, size: $0) }
                #expect(decoded[0] == decoded[1], "octet \(index) as \(octet)")
            }
        }
    }

    @Test(arguments: [("gzip", Coded.gzip), ("zstd", Coded.zstd), ("zstd", Coded.skippable)])
    func aTruncatedSecondMemberIsAnError(coding: String, coded: [UInt8]) {
        for count in 1..<coded.count {
            #expect(throws: ContentDecodingFailure.truncated) {
                try decode(coded + coded[..<count], as: coding)
            }
        }
    }

    @Test(arguments: [1, 5, .max])
    func everyFrameOfAZstandardBodyCounts(size: Int) throws {
        let frames = Coded.skippable + Coded.zstd + Coded.skippable + Coded.zstd
        #expect(try decode(frames, as: "zstd", size: size) == Coded.text + Coded.text)
        #expect(try decode(Coded.skippable, as: "zstd", size: size) == "")
    }

    @Test(arguments: ["gzip", "deflate", "br", "zstd"])
    func anEmptyBodyIsComplete(coding: String) throws {
        #expect(try decode([], as: coding) == "")
    }

    @Test(arguments: [
        ("gzip", "not gzip"), ("deflate", "x\u{0}not zlib"), ("deflate", "\u{7}"), ("br", "\u{11}"),
        ("zstd", "not zstd"), ("zstd", "(not"),
        // The format of zstd 0.7, which libzstd may know.
        ("zstd", "'\u{b5}/\u{fd}"),
    ])
    func garbageIsMalformed(coding: String, text: String) {
        #expect(isMalformed(Array(text.utf8), as: coding))
    }

    @Test("A window of 8 MiB is the largest (RFC 9659 §3)")
    func limitsTheWindow() throws {
        var coded = Coded.bytes(Coded.zstdZeros)
        #expect(try decode(coded, as: "zstd").utf8.count == 1 << 20)
        coded[5] += 1  // The mantissa: an eighth more (RFC 8878 §3.1.1.1.2).
        #expect(isMalformed(coded, as: "zstd"))
        #expect(isMalformed(Array(coded.prefix(7)), as: "zstd", size: 1))
    }

    @Test(arguments: [("gzip", Coded.gzip), ("deflate", Coded.zlib), ("zstd", Coded.zstd)])
    func aWrongChecksumIsMalformed(coding: String, coded: [UInt8]) {
        // The checksum is the last thing in the zlib format, and comes before four bytes of length in gzip.
        var coded = coded
        coded[coded.count - (coding == "gzip" ? 5 : 1)] ^= 1
        #expect(isMalformed(coded, as: coding))
    }

    @Test(arguments: [1, .max])
    func zerosAfterTheEndArePadding(size: Int) throws {
        let padding = [UInt8](repeating: 0, count: 512)
        #expect(try decode(Coded.gzip + padding, as: "gzip", size: size) == Coded.text)
        #expect(try decode(Coded.zlib + padding, as: "deflate", size: size) == Coded.text)
        #expect(try decode(Coded.brotli + padding, as: "br", size: size) == Coded.text)
        #expect(try decode(Coded.zstd + padding, as: "zstd", size: size) == Coded.text)
    }

    @Test(arguments: ["<html>", "\u{0}\u{0}\u{1}", "\u{0}\u{1f}", "\u{0}("])
    func anythingElseAfterTheEndIsMalformed(rest: String) {
        for size in [1, .max] {
            #expect(isMalformed(Coded.gzip + Array(rest.utf8), as: "gzip", size: size))
            #expect(isMalformed(Coded.zlib + Array(rest.utf8), as: "deflate", size: size))
            #expect(isMalformed(Coded.raw + Array(rest.utf8), as: "deflate", size: size))
            #expect(isMalformed(Coded.brotli + Array(rest.utf8), as: "br", size: size))
            #expect(isMalformed(Coded.zstd + Array(rest.utf8), as: "zstd", size: size))
        }
    }

    // MARK: - Several codings

    private static let stacks = [
        ("deflate, gzip", Coded.deflateGzip), ("gzip,deflate", Coded.gzipDeflate),
        (" X-GZip\t, identity,Deflate,", Coded.gzipDeflate), ("none, gzip", Coded.gzip),
        ("none, zstd", Coded.zstd),
    ]

    @Test(arguments: stacks, [1, 7, .max])
    func theLastCodingIsDecodedFirst(stack: (coding: String, coded: [UInt8]), size: Int) throws {
        #expect(try decode(stack.coded, as: stack.coding, size: size) == Coded.text)
    }

    @Test(arguments: stacks)
    func eachCodingMayBeTruncated(coding: String, coded: [UInt8]) {
        for count in 1..<coded.count {
            #expect(throws: ContentDecodingFailure.truncated, "after \(count) bytes") {
                try decode(Array(coded[..<count]), as: coding)
            }
        }
    }

    /// The outer coding is complete, and the inner one is not.
    @Test func onlyTheInnerCodingMayBeTruncated() {
        #expect(throws: ContentDecodingFailure.truncated) {
            try decode(Coded.gzipOfNothing, as: "deflate, gzip")
        }
        #expect(throws: ContentDecodingFailure.truncated) {
            // Two members: the first holds the beginning of a zlib stream, which the second does not go on with.
            try decode(Coded.gzipOfPiece + Coded.gzipOfNothing, as: "deflate, gzip")
        }
    }

    @Test func severalCodingsOfAnEmptyBodyAreEmpty() throws {
        #expect(try decode([], as: "deflate, gzip") == "")
    }

    @Test func theOutputOfEachCodingCanBeLimited() throws {
        struct TooLong: Error {}
        let decoder = try #require(ContentDecoder(contentEncoding: "deflate, gzip"))
        let bomb = Coded.deflateGzip + Coded.bytes(Coded.megabyteOfZeros)
        var total = 0
        #expect(throws: TooLong.self) {
            try decoder.decode(bomb.span, checking: { if $0 > 100_000 { throw TooLong() } }) {
                total += $0.count
            }
        }
        #expect(total == Coded.text.utf8.count)
    }

    // MARK: - Pieces

    @Test(arguments: [
        ("gzip", Coded.megabyteOfZeros), ("br", Coded.brotliZeros), ("zstd", Coded.zstdZeros),
    ])
    func theOutputComesInPieces(coding: String, zeros: String) throws {
        let decoder = try #require(ContentDecoder(contentEncoding: coding))
        let bomb = Coded.bytes(zeros)
        var largest = 0
        var total = 0
        try decoder.decode(bomb.span) { piece in
            largest = max(largest, piece.count)
            total += piece.count
        }
        try decoder.finish()
        #expect(total == 1 << 20)
        #expect(largest <= 64 * 1024)
    }

    @Test(arguments: [
        ("gzip", Coded.megabyteOfZeros), ("gzip, gzip", Coded.megabyteOfZeros), ("br", Coded.brotliZeros),
        ("zstd, gzip", Coded.zstdZeros),
    ])
    func outputThatExceedsACallIsLeftForTheNext(coding: String, zeros: String) throws {
        let decoder = try #require(ContentDecoder(contentEncoding: coding))
        let inner = Coded.bytes(zeros)
        decoder.append((coding.contains(",") ? try Self.stored(inner) : inner).span)
        var (total, calls, isAll) = (0, 0, false)
        while !isAll {
            let before = total
            isAll = try decoder.decode(atMost: 100_000) { total += $0.count }
            #expect(total - before <= 100_000 + 64 * 1024)
            calls += 1
        }
        try decoder.finish()
        #expect(total == 1 << 20 && calls >= 7)
        #expect(try decoder.decode(atMost: 1) { _ in Issue.record("There was nothing left.") })
    }

    /// The bytes in gzip, as they are: one stored block (RFC 1951 section 3.2.4).
    private static func stored(_ bytes: [UInt8]) throws -> [UInt8] {
        let count = UInt16(bytes.count)
        let head: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1]
        let lengths = [count, ~count].flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        var crc: UInt32 = ~0
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xedb8_8320 : crc >> 1 }
        }
        let tail = [~crc, UInt32(count)].flatMap { word in
            [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
        }
        return head + lengths + bytes + tail
    }

    @Test func errorsOfTheReceiverAreRethrown() throws {
        struct Full: Error {}
        let decoder = try #require(ContentDecoder(contentEncoding: "gzip"))
        #expect(throws: Full.self) { try decoder.decode(Coded.gzip.span) { _ in throw Full() } }
    }

    @Test(arguments: [
        "compress", "dcz", "gzip, compress", "sdch, gzip", "gzip gzip", "br zstd", "utf-8",
        "gzip, gzip, gzip, gzip, gzip",
        "identity", "none", "", ",", "identity, none",
    ])
    func anUnknownCodingAndNoneHaveNoDecoder(coding: String) {
        #expect(ContentDecoder(contentEncoding: coding) == nil)
    }
}
