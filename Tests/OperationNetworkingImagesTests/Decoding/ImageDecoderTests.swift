import Foundation
import OperationNetworking
import Testing

@testable import OperationNetworkingImages

@Suite(.timeLimit(.minutes(1))) struct ImageDecoderTests {
    private typealias Pixel = [UInt8]

    private static let red: [UInt8] = [255, 0, 0, 255]
    private static let green: [UInt8] = [0, 255, 0, 255]
    private static let blue: [UInt8] = [0, 0, 255, 255]
    private static let white: [UInt8] = [255, 255, 255, 255]
    private static let clear: [UInt8] = [255, 255, 255, 64]

    /// The corners: the upper left, the upper right, the lower left and the lower right pixel.
    private func corners(_ image: DecodedImage) -> [[UInt8]] {
        let (right, bottom) = (image.pixelWidth - 1, image.pixelHeight - 1)
        return [(0, 0), (right, 0), (0, bottom), (right, bottom)].map { column, row in
            Array(image.pixels.dropFirst(row * image.bytesPerRow + column * 4).prefix(4))
        }
    }

    private func expect(
        _ image: DecodedImage,
        _ expected: [[UInt8]],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for (pixel, color) in zip(corners(image), expected) {
            // Lossy formats are a little off.
            let difference = zip(pixel, color).map { abs(Int($0) - Int($1)) }.max() ?? 255
            #expect(difference <= 12, "\(pixel), not \(color)", sourceLocation: sourceLocation)
        }
    }

    // MARK: - Formats

    @Test(arguments: ExampleImage.all)
    func everyFormatGivesItsPixels(example: ExampleImage) throws {
        let image = try ImageDecoder().image(from: example.data)
        #expect(image.format == example.format)
        #expect(image.pixels.count == 16 * 8 * 4)
        #expect(image.bytesPerRow == image.pixelWidth * 4)
        switch example.name {
        case "png16":
            expect(image, Array(repeating: [128, 128, 128, 255], count: 4))
        case "pngTurned", "tiffTurned", "webpTurned":
            #expect(image.pixelWidth == 8 && image.pixelHeight == 16)
            expect(image, [Self.blue, Self.red, Self.white, Self.green])
        case "tiffFlipped":
            expect(image, [Self.white, Self.blue, Self.green, Self.red])
        case "png", "webp", "icoPNG", "icoBitmap":
            #expect(image.hasAlpha)
            expect(image, [Self.red, Self.green, Self.blue, Self.clear])
        default:
            #expect(image.pixelWidth == 16 && image.pixelHeight == 8)
            expect(image, [Self.red, Self.green, Self.blue, Self.white])
        }
        #expect(image.isAnimated == example.name.hasSuffix("Animated"))
    }

    @Test(
        "The pixels of a TIFF are not premultiplied",
        arguments: [
            ([200, 100, 50], nil, [200, 100, 50, 255]), ([200, 100, 50, 255], 2, [200, 100, 50, 255]),
            ([200, 100, 50, 128], 2, [199, 100, 50, 128]), ([100, 50, 25, 128], 1, [199, 100, 50, 128]),
            ([255, 255, 255, 1], 2, [255, 255, 255, 1]), ([200, 100, 50, 128], 1, [255, 199, 100, 128]),
            ([0, 0, 0, 0], 2, [0, 0, 0, 0]),
        ] as [([UInt8], UInt32?, [UInt8])]
    )
    func theAlphaOfATIFFIsDividedBy(pixel: [UInt8], extraSamples: UInt32?, expected: [UInt8]) throws {
        let data = ExampleImage.tiff(pixel, extraSamples: extraSamples)
        for limit in [nil, 1] {
            let image = try ImageDecoder(maximumPixelSize: limit).image(from: data)
            #expect(Array(image.pixels.prefix(4)) == expected)
            #expect(image.pixels.count == (limit == nil ? 16 : 4))
            #expect(image.hasAlpha == (expected[3] < 255))
        }
    }

    @Test(
        "Exif's orientations are applied",
        arguments: [
            (1, [red, green, blue, white]), (2, [green, red, white, blue]), (3, [white, blue, green, red]),
            (4, [blue, white, red, green]), (5, [red, blue, green, white]), (6, [blue, red, white, green]),
            (7, [white, green, blue, red]), (8, [green, white, red, blue]),
        ] as [(UInt8, [[UInt8]])]
    )
    func appliesOrientations(orientation: UInt8, expected: [[UInt8]]) throws {
        let image = try ImageDecoder().image(from: ExampleImage.jpeg(orientation: orientation))
        #expect((image.pixelWidth, image.pixelHeight) == (orientation < 5 ? (16, 8) : (8, 16)))
        expect(image, expected)
    }

    @Test(arguments: ["png", "jpeg", "gif", "webp", "bmp", "tiff", "icoPNG", "tiffTurned"])
    func largeImagesAreScaledDown(name: String) throws {
        let image = try ImageDecoder(scale: 2, maximumPixelSize: 4).image(from: ExampleImage.named(name))
        let isRotated = name.hasSuffix("Turned")
        #expect((image.pixelWidth, image.pixelHeight) == (isRotated ? (2, 4) : (4, 2)))
        #expect((image.width, image.height) == (isRotated ? (1, 2) : (2, 1)))
        #expect(image.pixels.count == 4 * 2 * 4)
    }

    /// libtiff takes the first width, and reads it in any type.
    @Test func aTIFFWithTwoWidthsIsJudgedByTheFirst() throws {
        let data = ExampleImage.tiff([200, 100, 50], width: [(9, 2), (4, 1)])
        #expect(try ImageDecoder().image(from: data).pixelWidth == 2)
        #expect(try ImageDecoder(maximumPixelSize: 1).image(from: data).pixels.count == 4)
        let other = ExampleImage.tiff([200, 100, 50], width: [(2, 2), (4, 1)])
        #expect(throws: ResponseSerializationError.self) { try ImageDecoder().image(from: other) }
    }

    @Test func smallImagesAreNotScaledUp() throws {
        let image = try ImageDecoder(maximumPixelSize: 100).image(from: ExampleImage.named("png"))
        #expect((image.pixelWidth, image.pixelHeight) == (16, 8))
    }

    @Test(
        "Other formats are never passed to a decoder",
        arguments: ["image-avif", "image-heic", "image-cur", "image-xbm"]
    )
    func refusesOtherFormats(seed: String) throws {
        let file = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().appendingPathComponent("../../Fuzzing/Seeds/\(seed)")
        // A seed is what the fuzzer reads: a letter, the media type, a line feed, and the image.
        let data = try Data(contentsOf: file).drop { $0 != 10 }.dropFirst()
        let error = try #require(throws: ImageDecodingError.self) {
            try ImageDecoder().image(from: Data(data))
        }
        guard case .unsupportedFormat(let format) = error else { throw error }
        #expect(seed == "image-\(format.rawValue)")
    }

    // MARK: - Broken images

    @Test(arguments: ExampleImage.all)
    func aTruncatedImageIsAnError(example: ExampleImage) throws {
        let counts = [Int](stride(from: 1, to: example.data.count, by: 7)) + [example.data.count - 1]
        for count in counts {
            do {
                _ = try ImageDecoder().image(from: example.data.prefix(count))
                Issue.record("\(count) of \(example.data.count) bytes are an image")
            } catch is ResponseSerializationError {
            } catch ImageDecodingError.malformed {
            } catch ImageDecodingError.tooManyPixels {
            }
        }
    }

    @Test func anErrorSaysWhatTheDecoderSaid() throws {
        var data = ExampleImage.named("png")
        data[60] ^= 0xFF
        let error = try #require(throws: ImageDecodingError.self) { try ImageDecoder().image(from: data) }
        guard case .malformed(.png, let sentence) = error else { throw error }
        #expect(!sentence.isEmpty)
        #expect((error as NSError).code == -1016)
        #expect((error as NSError).domain == "com.alamofire.error.serialization.response")
    }

    @Test func anEmptyBodyIsNotAnImage() {
        #expect(throws: (any Error).self) { try ImageDecoder().image(from: Data()) }
        #expect(throws: ResponseSerializationError.self) {
            try ImageDecoder().image(from: Data("<html>".utf8))
        }
    }

    // MARK: - Limits

    @Test func moreThanTheLimitOfPixelsIsNotDecoded() throws {
        let decoder = ImageDecoder(limits: ImageDecodingLimits(maximumPixelCount: 127))
        #expect(throws: ImageDecodingError.tooManyPixels(width: 16, height: 8, limit: 127)) {
            try decoder.image(from: ExampleImage.named("png"))
        }
        let bomb = ExampleImage.bitmap(width: 60_000, height: 60_000)
        #expect(throws: ImageDecodingError.tooManyPixels(width: 60_000, height: 60_000, limit: 1 << 26)) {
            try ImageDecoder().image(from: bomb)
        }
    }

    @Test("The kernel holds the memory limit", .enabled(if: !Sanitizer.isOn))
    func moreThanTheLimitOfMemoryIsAnError() throws {
        let bomb = ExampleImage.bitmap(width: 5_000, height: 5_000)
        #expect(try ImageDecoder(maximumPixelSize: 10).image(from: bomb).pixelWidth == 10)
        let decoder = ImageDecoder(
            maximumPixelSize: 10,
            limits: ImageDecodingLimits(maximumMemory: 16 << 20)
        )
        let error = try #require(throws: ImageDecodingError.self) { try decoder.image(from: bomb) }
        guard case .memoryLimitExceeded = error else { throw error }
        // The next image is none the worse for it.
        #expect(try ImageDecoder().image(from: ExampleImage.named("png")).pixelWidth == 16)
    }

    @Test(arguments: [0, -1, Double.nan])
    func moreThanTheLimitOfTimeIsAnError(limit: Double) throws {
        let decoder = ImageDecoder(limits: ImageDecodingLimits(maximumDuration: limit))
        let error = try #require(throws: ImageDecodingError.self) {
            try decoder.image(from: ExampleImage.bitmap(width: 8_000, height: 8_000))
        }
        guard case .timeLimitExceeded = error else { throw error }
        #expect(try ImageDecoder().image(from: ExampleImage.named("jpeg")).pixelWidth == 16)
    }
}
