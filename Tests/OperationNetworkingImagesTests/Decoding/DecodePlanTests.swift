import Foundation
import OperationNetworking
import OperationNetworkingImagesSystem
import Testing

@testable import OperationNetworkingImages

/// The work for a decoder, decided without one.
@Suite struct DecodePlanTests {
    private func plan(
        _ data: Data,
        _ limits: ImageDecodingLimits = ImageDecodingLimits(),
        maximumPixelSize: Int? = nil
    ) throws -> DecodePlan {
        let object = try ImageHeadResponseSerializer().responseObject(for: nil, data: data)
        return try DecodePlan(
            try #require(object as? ResponseImage),
            limits,
            maximumPixelSize: maximumPixelSize
        )
    }

    @Test(
        arguments: [
            (100, 50, nil, nil), (100, 50, 100, nil), (100, 50, 200, nil), (100, 50, 10, [10, 5]),
            (50, 100, 10, [5, 10]), (1_000, 1, 10, [10, 1]), (3, 3, 1, [1, 1]), (100, 50, 0, nil),
            (100, 50, -1, nil), (65_535, 65_535, 256, [256, 256]),
        ] as [(Int, Int, Int?, [Int]?)]
    )
    func scalesIntoASquare(width: Int, height: Int, limit: Int?, expected: [Int]?) {
        #expect(DecodePlan.size(width, height, within: limit).map { [$0.width, $0.height] } == expected)
    }

    @Test(
        arguments: [
            ("png", .png, 1), ("jpeg", .jpeg, 1), ("gif", .gif, 1), ("webp", .webp, 1), ("bmp", .bmp, 1),
            ("tiff", .tiff, 0), ("tiffTurned", .tiff, 0), ("pngTurned", .png, 6), ("icoBitmap", .ico, 1),
            ("icoPNG", .png, 1),
        ] as [(String, DecoderFormat, UInt32)]
    )
    func choosesTheDecoder(name: String, format: DecoderFormat, orientation: UInt32) throws {
        let plan = try plan(ExampleImage.named(name))
        #expect(plan.format == format)
        #expect(plan.orientation == orientation)
        #expect(plan.size == nil)
    }

    @Test func theLimitCountsThePixelsThatAreStored() throws {
        let data = ExampleImage.named("jpeg")
        #expect(throws: ImageDecodingError.tooManyPixels(width: 16, height: 8, limit: 100)) {
            try plan(data, ImageDecodingLimits(maximumPixelCount: 100), maximumPixelSize: 2)
        }
        #expect(try plan(data, ImageDecodingLimits(maximumPixelCount: 128)).format == .jpeg)
    }

    @Test func thePNGInAnIconIsJudgedByItsOwnSize() throws {
        // The directory has room for 256 x 256 only; the PNG in it says what it likes.
        var data = ExampleImage.named("icoPNG")
        let width = 22 + 16
        data.replaceSubrange(width..<width + 8, with: [0, 1, 0, 0, 0, 1, 0, 0])
        #expect(throws: ImageDecodingError.tooManyPixels(width: 65_536, height: 65_536, limit: 1 << 26)) {
            try plan(data)
        }
    }

    // MARK: - Icons

    /// An icon of entries: width, height and depth, each with one byte, which is its number.
    private func icon(_ entries: [(UInt8, UInt8, UInt8)]) -> Data {
        var lines: [UInt8] = []
        for (index, entry) in entries.enumerated() {
            let offset = UInt8(6 + 16 * entries.count + index)
            lines += [entry.0, entry.1, 0, 0, 1, 0, entry.2, 0, 1, 0, 0, 0, offset, 0, 0, 0]
        }
        return Data([0, 0, 1, 0, UInt8(entries.count), 0] + lines + entries.indices.map { UInt8($0) })
    }

    @Test(
        arguments: [
            ([(16, 16, 32)], 0), ([(16, 16, 32), (32, 32, 8)], 1), ([(16, 16, 8), (16, 16, 32)], 1),
            ([(0, 0, 8), (255, 255, 32)], 0), ([(16, 16, 8), (16, 16, 8)], 0),
        ] as [([(UInt8, UInt8, UInt8)], UInt8)]
    )
    func takesTheLargestThenTheDeepestImageOfAnIcon(entries: [(UInt8, UInt8, UInt8)], expected: UInt8) throws
    {
        let data = icon(entries)
        let directory = try #require(IconDirectory(data))
        #expect(directory.bytes(of: data) == Data([expected]))
        let alone = directory.icon(of: data)
        #expect(alone.count == 23)
        #expect(IconDirectory(alone)?.image == 22..<23)
    }

    @Test func anIconWithoutAnImageInsideHasNone() {
        #expect(IconDirectory(icon([])) == nil)
        #expect(IconDirectory(icon([(16, 16, 8)]).prefix(22)) == nil)
        #expect(IconDirectory(Data([0, 0, 1])) == nil)
    }
}
