import Foundation
import OperationNetworkingImagesSystem
import Testing

@testable import OperationNetworkingImages

/// Truncated images, distinguished from whole ones without a decoder.
@Suite struct ImageEndTests {
    private static let formats: [(name: String, format: DecoderFormat)] = [
        ("png", .png), ("pngPalette", .png), ("png16", .png), ("pngTurned", .png), ("jpeg", .jpeg),
        ("jpegProgressive", .jpeg), ("webp", .webp), ("webpLossy", .webp), ("webpAnimated", .webp),
        ("webpTurned", .webp), ("bmp", .bmp),
    ]

    @Test(arguments: formats)
    func everyCutIsSeen(name: String, format: DecoderFormat) {
        let data = ExampleImage.named(name)
        #expect(ImageEnd.isPresent(in: data, of: format))
        for count in data.indices {
            #expect(!ImageEnd.isPresent(in: data.prefix(count), of: format), "\(count) of \(data.count)")
        }
    }

    @Test("Bytes after the end are ignored", arguments: formats)
    func moreThanTheImageIsWhole(name: String, format: DecoderFormat) {
        let data = ExampleImage.named(name)
        for rest in [Data([0]), Data([0xFF]), Data("</html>\n".utf8), data] {
            #expect(ImageEnd.isPresent(in: data + rest, of: format))
        }
        #expect(ImageEnd.isPresent(in: (Data([1, 2, 3]) + data).dropFirst(3), of: format))
    }

    // MARK: - JPEG

    /// A JPEG that ends as given, after its scan.
    private func jpeg(_ segment: [UInt8] = [], end: [UInt8]) -> Data {
        let data = ExampleImage.named("jpeg")
        return data.prefix(2) + Data(segment) + data.dropFirst(2).dropLast(2) + Data(end)
    }

    @Test func theEndOfAThumbnailIsNotTheEnd() {
        let thumbnail = [UInt8](ExampleImage.named("jpeg"))
        let length = thumbnail.count + 2
        let segment = [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 0xFF)] + thumbnail
        #expect(ImageEnd.isPresent(in: jpeg(segment, end: [0xFF, 0xD9]), of: .jpeg))
        #expect(!ImageEnd.isPresent(in: jpeg(segment, end: []), of: .jpeg))
    }

    @Test(
        "Only an EOI at the place of a marker is the end of a JPEG",
        arguments: [
            ([0xFF, 0xD9], true), ([0xFF, 0xFF, 0xFF, 0xD9], true), ([0xFF, 0xD0, 1, 2, 0xFF, 0xD9], true),
            ([0xFF, 0xFE, 0, 4, 1, 2, 0xFF, 0xD9], true), ([0xFF, 0x00, 0xFF, 0xD9], true),
            ([0xFF, 0xDA, 0, 4, 1, 2, 9, 9, 0xFF, 0xD9], true), ([], false), ([0xFF], false), ([0xD9], false),
            ([0xFF, 0x00, 0xD9], false), ([0xFF, 0xFE, 0, 4, 0xFF, 0xD9], false), ([0xFF, 0xFE, 0], false),
            ([0xFF, 0xFE, 0xFF, 0xFF, 0xFF, 0xD9], false), ([0xFF, 0xDA, 0, 4, 0xFF, 0xD9, 7], false),
        ] as [([UInt8], Bool)]
    )
    func anEOIIsAMarker(end: [UInt8], expected: Bool) {
        #expect(ImageEnd.isPresent(in: jpeg(end: end), of: .jpeg) == expected)
    }

    @Test func aMillionEmptySegmentsAreSkipped() {
        let segments = [[UInt8]](repeating: [0xFF, 0xE1, 0, 0], count: 1_000_000).flatMap { $0 }
        #expect(!ImageEnd.isPresent(in: Data([0xFF, 0xD8] + segments + [0xFF, 0xD9]), of: .jpeg))
    }

    // MARK: - PNG

    @Test("A chunk's length may be wrong", arguments: [0, 1, 0x7FFF_FFFF, .max] as [UInt32])
    func aChunkThatLies(length: UInt32) {
        var data = ExampleImage.named("png")
        data.replaceSubrange(33..<37, with: withUnsafeBytes(of: length.bigEndian) { Array($0) })
        #expect(!ImageEnd.isPresent(in: data, of: .png))
    }

    // MARK: - BMP

    /// The headers of a bitmap, by the later of the two layouts, and `rows` bytes for the rows.
    private func bitmap(
        _ width: UInt32,
        _ height: Int32,
        _ depth: UInt8,
        compression: UInt8 = 0,
        offset: UInt32 = 54,
        rows: Int
    ) -> Data {
        func little(_ number: some FixedWidthInteger) -> [UInt8] {
            withUnsafeBytes(of: number.littleEndian) { Array($0) }
        }
        let head = Array("BM".utf8) + [UInt8](repeating: 0, count: 8) + little(offset) + little(UInt32(40))
        let size = little(width) + little(height) + [1, 0, depth, 0, compression, 0, 0, 0]
        return Data(head + size + [UInt8](repeating: 0, count: 20 + rows))
    }

    @Test(
        "The rows of a bitmap have whole words",
        arguments: [
            (3, 3, 24, 36), (3, -3, 24, 36), (4, 2, 24, 24), (1, 1, 1, 4), (33, 1, 1, 8), (9, 2, 4, 16),
            (5, 2, 8, 16), (3, 2, 16, 16), (3, 2, 32, 24),
        ] as [(UInt32, Int32, UInt8, Int)]
    )
    func rowsHaveWholeWords(width: UInt32, height: Int32, depth: UInt8, count: Int) {
        for compression: UInt8 in [0, 3, 6] {
            let whole = bitmap(width, height, depth, compression: compression, rows: count)
            #expect(ImageEnd.isPresent(in: whole, of: .bmp))
            #expect(!ImageEnd.isPresent(in: whole.dropLast(), of: .bmp))
        }
        let shifted = bitmap(width, height, depth, offset: 64, rows: count + 10)
        #expect(ImageEnd.isPresent(in: shifted, of: .bmp))
        #expect(!ImageEnd.isPresent(in: shifted.dropLast(), of: .bmp))
        // A table of colors is before the rows, never in the headers.
        #expect(ImageEnd.isPresent(in: bitmap(width, height, depth, offset: 0, rows: count), of: .bmp))
    }

    @Test func theOldHeaderOfABitmapHasNumbersOf16Bits() {
        let head: [UInt8] = [0x42, 0x4D] + [UInt8](repeating: 0, count: 8) + [26, 0, 0, 0, 12, 0, 0, 0]
        let data = Data(head + [3, 0, 2, 0, 1, 0, 24, 0] + [UInt8](repeating: 0, count: 24))
        #expect(ImageEnd.isPresent(in: data, of: .bmp))
        #expect(!ImageEnd.isPresent(in: data.dropLast(), of: .bmp))
    }

    @Test func aBitmapThatClaimsTooMuchIsCut() {
        let data = bitmap(.max, .min, 255, offset: .max, rows: 100)
        #expect(!ImageEnd.isPresent(in: data, of: .bmp))
    }

    @Test func theEndOfRunLengthsIsNotLookedFor() {
        #expect(ImageEnd.isPresent(in: ExampleImage.bitmap(width: 5_000, height: 5_000), of: .bmp))
    }
}
