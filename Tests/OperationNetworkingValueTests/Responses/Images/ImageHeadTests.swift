import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct ImageHeadTests {
    private func sentence(_ data: Data) throws -> String {
        try #require(throws: ImageHead.Malformed.self) { try ImageHead(of: data) }.sentence
    }

    private func big(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    private func little(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }

    // MARK: - Images of other programs

    @Test(arguments: ExampleImage.all)
    func readsWhatOtherProgramsWrite(image: ExampleImage) throws {
        let head = try ImageHead(of: image.data)
        #expect(head.format == image.format)
        #expect(head.width == image.width)
        #expect(head.height == image.height)
        #expect(head.orientation == image.orientation)
        #expect(head.isAnimated == image.isAnimated)
    }

    @Test("A truncated image is an error, or has its size", arguments: ExampleImage.all)
    func truncatedImages(image: ExampleImage) {
        for count in image.data.indices {
            guard let head = try? ImageHead(of: image.data.prefix(count)) else { continue }
            // A TIFF directory cut behind the width has no height; a cut one never has another size.
            #expect(head.width == image.width && head.height == image.height)
        }
        #expect((try? ImageHead(of: image.data.prefix(9))) == nil)
    }

    @Test(arguments: ExampleImage.all)
    func aSliceOfALargerBufferIsRead(image: ExampleImage) throws {
        let slice = (Data([1, 2, 3]) + image.data + Data([4])).dropFirst(3).dropLast()
        #expect(try ImageHead(of: slice) == ImageHead(of: image.data))
    }

    @Test("Every single byte may be changed", arguments: ExampleImage.all)
    func changedBytesAreHandled(image: ExampleImage) {
        for position in image.data.indices.prefix(400) {
            for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
                var data = image.data
                data[position] = value
                guard let head = try? ImageHead(of: data) else { continue }
                #expect(head.width > 0 && head.height > 0 && (1...8).contains(head.orientation))
            }
        }
    }

    // MARK: - What is no image

    @Test(arguments: [
        "", "<html>", "{}", "GIF88a", "\u{89}PNG", "BM", "RIFF....WAVE", "#include <x.h>", "    ",
    ])
    func refusesOtherData(text: String) throws {
        #expect(throws: ImageHead.Malformed.self) { try ImageHead(of: Data(text.utf8)) }
    }

    @Test func aRefusalNamesTheFirstBytes() throws {
        #expect(
            try sentence(Data("<html>".utf8))
                == "It begins with 3C 68 74 6D 6C 3E, unlike any known image format."
        )
        #expect(try sentence(Data()) == "It begins with nothing, unlike any known image format.")
    }

    // MARK: - JPEG

    private func jpeg(_ segments: [UInt8]..., height: UInt16 = 5, width: UInt16 = 7, marker: UInt8 = 0xC0)
        -> Data
    {
        let frame = [0xFF, marker] + big(UInt16(11)) + [8] + big(height) + big(width) + [1, 1, 0x11, 0]
        return Data([0xFF, 0xD8] + segments.flatMap { $0 } + frame)
    }

    @Test("Every frame header of JPEG has a size", arguments: Array(0xC0...0xCF) as [UInt8])
    func readsEveryProcess(marker: UInt8) throws {
        let data = jpeg(marker: marker)
        if [0xC4, 0xC8, 0xCC].contains(marker) {
            #expect(throws: ImageHead.Malformed.self) { try ImageHead(of: data) }
        } else {
            let head = try ImageHead(of: data)
            #expect(head.width == 7 && head.height == 5)
        }
    }

    @Test func markersInsideOfSegmentsAreNotMarkers() throws {
        let thumbnail = [UInt8](jpeg(height: 99, width: 99))
        let segment = [0xFF, 0xE2] + big(UInt16(thumbnail.count + 2)) + thumbnail
        let head = try ImageHead(of: jpeg(segment, [0xFF, 0xFF, 0xFF], [0xFF, 0x01], [0xFF, 0xD0]))
        #expect(head.width == 7 && head.height == 5)
    }

    @Test(
        "A JPEG without a size is an error",
        arguments: [
            [0xFF, 0xD9], [0xFF, 0xD8], [0xFF, 0xDA, 0, 2], [0xFF, 0xE0, 0, 1], [0xFF, 0xE0, 0, 0],
            [0xFF, 0xE0, 0xFF, 0xFF],
        ] as [[UInt8]]
    )
    func refusesAJPEGWithoutASize(segment: [UInt8]) {
        #expect(throws: ImageHead.Malformed.self) { try ImageHead(of: jpeg(segment)) }
    }

    @Test func aMillionEmptySegmentsAreSkipped() throws {
        let segments = [[UInt8]](repeating: [0xFF, 0xE1, 0, 2], count: 1_000_000).flatMap { $0 }
        #expect(try ImageHead(of: jpeg(segments)).width == 7)
        #expect(throws: ImageHead.Malformed.self) { try ImageHead(of: Data([0xFF, 0xD8]) + segments) }
    }

    // MARK: - Lies

    @Test func aSizeOfZeroIsAnError() throws {
        #expect(try sentence(jpeg(height: 0)) == "Its size is 7 x 0 pixels.")
        #expect(
            try sentence(Data("GIF89a".utf8) + Data([0, 0, 5, 0, 0, 0, 0])) == "Its size is 0 x 5 pixels."
        )
        #expect(
            try sentence(Data("#define a_width 0\n#define a_height -3\n".utf8))
                == "Its size is 0 x -3 pixels."
        )
    }

    @Test("A bitmap's rows may be stored upwards or downwards", arguments: [5, -5] as [Int32])
    func readsHeightsOfBothSigns(height: Int32) throws {
        for size in [16, 40, 52, 56, 64, 108, 124] as [UInt32] {
            let data = Data(
                [0x42, 0x4D] + [UInt8](repeating: 0, count: 12) + little(size) + little(Int32(7))
                    + little(height)
            )
            let head = try ImageHead(of: data)
            #expect(head.width == 7 && head.height == 5)
        }
    }

    @Test("A bitmap with an impossible header is an error", arguments: [0, 11, 13, 125, .max] as [UInt32])
    func refusesABitmapsHeader(size: UInt32) {
        let data = Data(
            [0x42, 0x4D] + [UInt8](repeating: 0, count: 12) + little(size) + little(Int32(7))
                + little(Int32(5))
        )
        #expect(throws: ImageHead.Malformed.self) { try ImageHead(of: data) }
    }

    @Test func theLargestImageOfAnIconCountsAnd0Is256() throws {
        func entry(_ width: UInt8, _ height: UInt8, at offset: UInt32 = 38) -> [UInt8] {
            [width, height, 0, 0, 1, 0, 32, 0] + little(UInt32(1)) + little(offset)
        }
        let data = Data([0, 0, 1, 0, 2, 0] + entry(0, 0) + entry(255, 255) + [0])
        #expect(try ImageHead(of: data).width == 256)
        let outside = Data([0, 0, 1, 0, 2, 0] + entry(0, 0) + entry(32, 32, at: .max) + [0])
        #expect(try sentence(outside) == "Its image 2 of 2 lies outside of the data.")
        #expect(throws: ImageHead.Malformed.self) {
            try ImageHead(of: Data([0, 0, 1, 0, 0xFF, 0xFF] + entry(1, 1)))
        }
        #expect(try sentence(Data([0, 0, 1, 0, 0, 0])) == "It is an icon without images.")
    }

    @Test func directoriesOfTIFFThatFormALoopAreNotFollowed() throws {
        func entry(_ tag: UInt16, _ value: UInt32) -> [UInt8] {
            little(tag) + little(UInt16(4)) + little(UInt32(1)) + little(value)
        }
        let head = Array("II*\0".utf8) + little(UInt32(8)) + little(UInt16(2))
        #expect(try ImageHead(of: Data(head + entry(256, 7) + entry(257, 5) + little(UInt32(8)))).height == 5)
        #expect(
            try sentence(Data(head + entry(1, 7) + entry(2, 5) + little(UInt32(8))))
                == "Its first directory has no size."
        )
    }

    /// A small TIFF, little-endian, of the width's entries and a height of 5; eight bytes follow them.
    private func tiff(widths: [(type: UInt16, value: UInt32)], after bytes: UInt64 = 0) -> Data {
        func entry(_ tag: UInt16, _ type: UInt16, _ value: UInt32) -> [UInt8] {
            little(tag) + little(type) + little(UInt32(1)) + little(value)
        }
        let head = Array("II*\0".utf8) + little(UInt32(8)) + little(UInt16(widths.count + 1))
        return Data(
            head + widths.flatMap { entry(256, $0.type, $0.value) } + entry(257, 3, 5) + little(bytes)
        )
    }

    @Test(
        "The first entry of a TIFF tag is used, in every integer type",
        arguments: [
            ([(1, 7)], 7), ([(3, 7)], 7), ([(4, 7)], 7), ([(6, 7)], 7), ([(8, 7)], 7), ([(9, 7)], 7),
            ([(9, 3_000), (4, 16)], 3_000), ([(4, 16), (9, 3_000)], 16), ([(3, 0x1_0007)], 7),
            ([(2, 7)], nil), ([(5, 7), (4, 16)], nil), ([(11, 7), (4, 16)], nil), ([(0, 7), (4, 16)], nil),
            ([(6, 0xFF), (4, 16)], nil), ([(8, 0xFFFF)], nil), ([(9, 0xFFFF_FFFF)], nil),
            ([(16, 34)], 9), ([(17, 34)], 9), ([(16, 35)], nil), ([(16, 0xFFFF_FFFF), (4, 16)], nil),
        ] as [([(type: UInt16, value: UInt32)], Int?)]
    )
    func theFirstEntryOfATIFFsTagCounts(widths: [(type: UInt16, value: UInt32)], expected: Int?) {
        let head = try? ImageHead(of: tiff(widths: widths, after: 9))
        #expect(head?.width == expected)
    }

    @Test("An offset outside of a TIFF is an error", arguments: [0, 1, 7, 16, 0xFFFF_FFFF, .max] as [UInt64])
    func refusesOffsetsOutside(offset: UInt64) {
        let small =
            Array("MM\0*".utf8) + big(UInt32(truncatingIfNeeded: offset)) + [UInt8](repeating: 0, count: 8)
        let large = Array("MM\0+".utf8) + big(UInt16(8)) + big(UInt16(0)) + big(offset)
        #expect(throws: ImageHead.Malformed.self) { try ImageHead(of: Data(small)) }
        #expect(throws: ImageHead.Malformed.self) { try ImageHead(of: Data(large)) }
    }

    @Test("A box of an impossible length ends the search", arguments: [0, 1, 2, 7, 0xFFFF_FFFF] as [UInt32])
    func refusesBoxes(length: UInt32) {
        for large in [0, 15, 16, 1 << 63 - 1, 1 << 63, .max] as [UInt64] {
            let fileType = big(UInt32(16)) + Array("ftypavif".utf8) + big(UInt32(0))
            for type in ["meta", "free"] {
                let box = big(length) + Array(type.utf8) + big(large)
                #expect(throws: ImageHead.Malformed.self) { try ImageHead(of: Data(fileType + box)) }
            }
            #expect(throws: ImageHead.Malformed.self) {
                try ImageHead(of: Data(big(length) + Array("ftyp".utf8) + big(large)))
            }
        }
    }

    @Test func manySmallBoxesAndChunksAreSkipped() {
        let fileType = big(UInt32(16)) + Array("ftypavif".utf8) + big(UInt32(0))
        let boxes = [[UInt8]](repeating: big(UInt32(8)) + Array("free".utf8), count: 200_000).flatMap { $0 }
        #expect(throws: ImageHead.Malformed.self) { try ImageHead(of: Data(fileType + boxes)) }
        let blocks = [[UInt8]](repeating: [0x21, 0xF9, 0], count: 200_000).flatMap { $0 }
        let gif = Data(Array("GIF89a".utf8) + [7, 0, 5, 0, 0, 0, 0] + blocks)
        #expect((try? ImageHead(of: gif))?.isAnimated == false)
    }

    @Test func brandsAreLookedForAtTheBeginningOnly() {
        let none = [[UInt8]](repeating: Array("none".utf8), count: 300).flatMap { $0 }
        let data = Data(big(UInt32(none.count + 12)) + Array("ftyp".utf8) + none + Array("avif".utf8))
        #expect(throws: ImageHead.Malformed("It is a container, such as a video, but not of images.")) {
            try ImageHead(of: data)
        }
    }

    @Test func videoIsNotAnImage() throws {
        let data = Data(big(UInt32(16)) + Array("ftypisom".utf8) + big(UInt32(0)))
        #expect(try sentence(data) == "It is a container, such as a video, but not of images.")
    }
}
