import Foundation
import OperationNetworking
import Testing

@testable import OperationNetworkingImages

/// Broken images of every format: an image or an error, and the next one is decoded as ever. More rounds by
/// `OPERATIONNETWORKING_IMAGE_ROUNDS`.
@Suite(.timeLimit(.minutes(10))) struct MutatedImageTests {
    /// SplitMix64: the same numbers in each run.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            return word ^ (word >> 31)
        }
    }

    private func mutated(_ data: Data, _ numbers: inout Numbers) -> Data {
        var bytes = [UInt8](data)
        for _ in 0..<Int.random(in: 1...8, using: &numbers) {
            // The signature stays mostly: without it no decoder is asked.
            let position = Int.random(in: min(4, bytes.count - 1)..<bytes.count, using: &numbers)
            switch Int.random(in: 0..<6, using: &numbers) {
            case 0: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
            case 1: bytes[position] = 0xFF
            case 2: bytes[position] = 0
            case 3: bytes.insert(UInt8.random(in: 0...255, using: &numbers), at: position)
            case 4 where bytes.count > 8: bytes.remove(at: position)
            default: bytes[position] = UInt8.random(in: 0...255, using: &numbers)
            }
        }
        return Data(bytes)
    }

    @Test(arguments: ExampleImage.all)
    func mutatedImagesAreImagesOrErrors(example: ExampleImage) throws {
        let variable = ProcessInfo.processInfo.environment["OPERATIONNETWORKING_IMAGE_ROUNDS"]
        let decoder = ImageDecoder(limits: ImageDecodingLimits(maximumPixelCount: 1 << 20))
        var numbers = Numbers(state: UInt64(example.data.count))
        for round in 0..<(variable.flatMap { Int($0) } ?? 25) {
            do {
                let image = try decoder.image(from: mutated(example.data, &numbers))
                #expect(image.pixels.count == image.bytesPerRow * image.pixelHeight, "\(round)")
            } catch is ResponseSerializationError {
            } catch let error as ImageDecodingError {
                // The clock, a missing module and the like would be news.
                switch error {
                case .malformed, .tooManyPixels, .unsupportedFormat, .memoryLimitExceeded, .decoderFailed:
                    break
                case .timeLimitExceeded, .decoderUnavailable: Issue.record("\(round): \(error)")
                }
            }
        }
        #expect(try decoder.image(from: example.data).pixels.count == 16 * 8 * 4)
    }
}
