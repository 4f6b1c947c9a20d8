import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingImages

@Suite(.timeLimit(.minutes(1))) struct ImageResponseSerializerTests {
    private let serializer = ImageResponseSerializer()
    private let png = ExampleImage.named("png")

    private func operation(_ status: Int, _ type: String?, _ data: Data) async throws -> HTTPRequestOperation
    {
        var fields: FieldLines = [:]
        if let type { fields = ["Content-Type": type] }
        let server = try ScriptedServer([.respond(status, fields, body: .data(data))])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.responseSerializer = serializer
        operation.start()
        _ = try? await operation.value
        server.stop()
        return operation
    }

    /// The row of the table of errors that `RequestFailureTests` cannot have.
    @Test func anUndecodableImageIsNeitherAMistakeNorTemporary() {
        for error in [ImageDecodingError.memoryLimitExceeded(1), .decoderUnavailable("none")] {
            let failure = RequestFailure(error)
            #expect(!failure.isProgrammingError && !failure.isTemporary && !failure.isUntrusted)
            #expect(failure.statusCode == nil)
        }
    }

    // MARK: - AFNetworking's tests

    @Test(arguments: [
        ("testThatImageRequestOperationAcceptsTIFFContentType", "image/tiff"),
        ("testThatImageRequestOperationAcceptsJPEGContentType", "image/jpeg"),
        ("testThatImageRequestOperationAcceptsGIFContentType", "image/gif"),
        ("testThatImageRequestOperationAcceptsPNGContentType", "image/png"),
        ("testThatImageRequestOperationAcceptsIconContentTypes", "image/ico"),
        ("testThatImageRequestOperationAcceptsIconContentTypes", "image/x-icon"),
        ("testThatImageRequestOperationAcceptsBitmapContentTypes", "image/bmp"),
        ("testThatImageRequestOperationAcceptsBitmapContentTypes", "image/x-bmp"),
        ("testThatImageRequestOperationAcceptsBitmapContentTypes", "image/x-win-bitmap"),
        ("added", "image/webp"),
    ])
    func accepts(name: String, type: String) async throws {
        let operation = try await operation(200, type, png)
        #expect(operation.error == nil)
        #expect((operation.responseObject as? DecodedImage)?.format == .png)
    }

    @Test(
        "testThatImageRequestOperationDoesNotAcceptInvalidFormatTypes",
        arguments: ["image/invalid-format", "text/html", "image/avif", "image/x-xbitmap", nil]
    )
    func refuses(type: String?) async throws {
        let operation = try await operation(200, type, png)
        #expect((operation.error as? ResponseSerializationError)?.reason == .unacceptableContentType(type))
        #expect(operation.responseObject == nil)
    }

    @Test("testThatImageResponseIsNotNilWhenRequestSucceeds")
    func theImageIsSetWhenTheRequestSucceeds() async throws {
        let operation = try await operation(200, "image/png", png)
        let image = try #require(operation.responseObject as? DecodedImage)
        #expect((image.pixelWidth, image.pixelHeight) == (16, 8))
    }

    @Test("testThatImageResponseIsNilWhenRequestFails")
    func theImageIsNilWhenTheRequestFails() async throws {
        let operation = try await operation(404, "text/html", Data("gone".utf8))
        #expect((operation.error as? ResponseSerializationError)?.reason == .unacceptableStatusCode(404))
        #expect(operation.responseObject == nil)
    }

    // MARK: - Ours

    @Test func theImageOfAnUnacceptableStatusIsNotDecoded() async throws {
        let operation = try await operation(404, "image/png", png)
        #expect((operation.error as? ResponseSerializationError)?.reason == .unacceptableStatusCode(404))
        #expect((operation.responseObject as? ResponseImage)?.pixelWidth == 16)
    }

    @Test func anImageOverTheLimitIsTheOperationsError() async throws {
        let operation = try await operation(
            200,
            "image/bmp",
            ExampleImage.bitmap(width: 30_000, height: 30_000)
        )
        #expect(
            operation.error as? ImageDecodingError
                == .tooManyPixels(width: 30_000, height: 30_000, limit: 1 << 26)
        )
    }

    @Test func anEmptyBodyIsNil() throws {
        #expect(try serializer.responseObject(for: nil, data: nil) == nil)
    }

    @Test func theImageIsInPoints() throws {
        let object = try ImageResponseSerializer(scale: 2).responseObject(for: nil, data: png)
        let image = try #require(object as? DecodedImage)
        #expect((image.width, image.height, image.scale) == (8, 4, 2))
    }

    @Test(
        """
        testImageSerializerCanBeCopied, testImageSerializerSupportsSecureCoding, \
        testImageSerializerCanBeArchivedAndUnarchived, \
        testImageSerializerCanBeArchivedAndUnarchivedWithNonDefaultPropertyValues, F33, F34
        """
    )
    func keepsSettings() throws {
        var original = ImageResponseSerializer(
            scale: 3,
            maximumPixelSize: 64,
            limits: ImageDecodingLimits(maximumPixelCount: 5, maximumMemory: 6, maximumDuration: 7)
        )
        original.acceptableStatusCodes = [201]
        original.acceptableContentTypes = ["image/x"]
        let copy = original
        let archived = try JSONDecoder().decode(
            ImageResponseSerializer.self,
            from: JSONEncoder().encode(original)
        )
        #expect(archived == original)
        original.scale = 1
        #expect(copy == archived)
    }

    @Test func manyThreadsDecodeAtOnce() throws {
        let failures = Recorder<String>()
        DispatchQueue.concurrentPerform(iterations: 64) { index in
            let example = ExampleImage.all[index % ExampleImage.all.count]
            do {
                let object = try serializer.responseObject(for: nil, data: example.data)
                if (object as? DecodedImage)?.format != example.format { failures.append(example.name) }
            } catch {
                failures.append("\(example.name): \(error)")
            }
        }
        #expect(failures.elements.isEmpty)
    }
}
