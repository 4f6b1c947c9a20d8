import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1))) struct ImageHeadResponseSerializerTests {
    let serializer = ImageHeadResponseSerializer()

    private func png() throws -> Data { try #require(ExampleImage.named("png")).data }

    private func image(_ data: Data, _ status: Int = 200, _ type: String? = "image/png") throws
        -> ResponseImage?
    {
        try serializer.responseObject(for: exampleResponse(status, type), data: data) as? ResponseImage
    }

    private func error(_ data: Data, _ status: Int = 200, _ type: String? = "image/png") throws
        -> ResponseSerializationError
    {
        try #require(throws: ResponseSerializationError.self) { try image(data, status, type) }
    }

    // MARK: - Media types

    @Test(arguments: [
        ("O2-01", "image/tiff"),
        ("O2-02", "image/jpeg"),
        ("O2-03", "image/gif"),
        ("O2-04", "image/png"),
        ("O2-05", "image/ico"),
        ("O2-05", "image/x-icon"),
        ("O2-06", "image/bmp"),
        ("O2-06", "image/x-bmp"),
        ("O2-06", "image/x-xbitmap"),
        ("O2-06", "image/x-win-bitmap"),
        ("added", "image/apng"),
        ("added", "image/avif"),
        ("added", "image/heic"),
        ("added", "image/heif"),
        ("added", "image/vnd.microsoft.icon"),
        ("added", "image/webp"),
        ("upper case", "Image/PNG"),
    ])
    func acceptsOverTheWire(id: String, type: String) async throws {
        let data = try png()
        let server = try ScriptedServer([.respond(200, ["Content-Type": type], body: .data(data))])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.responseSerializer = serializer
        operation.start()
        let image = try #require(try await operation.value as? ResponseImage)
        #expect(image.format == .png)
        #expect(image.data == data)
    }

    @Test(
        "O2-07: other media types are refused without reading the body",
        arguments: ["image/invalid-format", "image/svg+xml", "text/html", "application/octet-stream", nil]
    )
    func refuses(type: String?) throws {
        let error = try error(try png(), 200, type)
        #expect(error.reason == .unacceptableContentType(type))
        #expect(error.responseObject == nil)
        #expect((error as NSError).code == -1016)
    }

    @Test(
        "httpbin's images",
        .enabled(if: RealServers.httpbin != nil),
        arguments: [
            ("png", .png, 100, 100), ("jpeg", .jpeg, 239, 178), ("webp", .webp, 274, 367),
        ] as [(String, ResponseImage.Format, Int, Int)]
    )
    func readsTheImagesOfHTTPBin(path: String, format: ResponseImage.Format, width: Int, height: Int)
        async throws
    {
        let manager = OperationManager(baseURL: RealServers.httpbin)
        manager.responseSerializer = serializer
        let image = try #require(try await manager.get("image/\(path)") as? ResponseImage)
        #expect(image.format == format)
        #expect(image.pixelWidth == width)
        #expect(image.pixelHeight == height)
    }

    // MARK: - Bodies

    @Test func theFormatIsThatOfTheBytes() throws {
        let image = try #require(try image(try png(), 200, "image/jpeg"))
        #expect(image.format == .png)
        #expect(image.format.mimeType == "image/png")
    }

    @Test(arguments: [nil, Data()])
    func anEmptyBodyIsNil(data: Data?) throws {
        #expect(try serializer.responseObject(for: exampleResponse(200, "image/png"), data: data) == nil)
        #expect(try serializer.responseObject(for: exampleResponse(204), data: data) == nil)
    }

    @Test func bytesThatAreNotAnImageAreAnError() throws {
        let error = try error(Data("<html>".utf8))
        guard case .malformedBody(.image, let sentence) = error.reason else {
            Issue.record("\(error.reason)")
            return
        }
        #expect(sentence.contains("3C 68"))
        #expect(error.data == Data("<html>".utf8))
        #expect((error as NSError).code == -1016)
    }

    @Test func theImageOfAnUnacceptableStatusComesWithTheError() throws {
        let error = try error(try png(), 404)
        #expect(error.reason == .unacceptableStatusCode(404))
        #expect((error.responseObject as? ResponseImage)?.pixelWidth == 7)
    }

    @Test("An unacceptable status with another body is the error", arguments: ["image/png", "text/html"])
    func aBrokenImageOfAnUnacceptableStatusIsThatStatus(type: String) throws {
        let error = try error(Data("<html>".utf8), 404, type)
        #expect(error.reason == .unacceptableStatusCode(404))
        #expect(error.responseObject == nil)
    }

    // MARK: - Points

    @Test func sizesInPointsAreThoseShown() throws {
        let data = try #require(ExampleImage.named("jpeg-progressive-turned")).data
        let object = try ImageHeadResponseSerializer(scale: 2).responseObject(for: nil, data: data)
        let image = try #require(object as? ResponseImage)
        #expect(image.isRotated)
        #expect(image.pixelWidth == 7 && image.pixelHeight == 5)
        #expect(image.width == 2.5 && image.height == 3.5)
        #expect(image.scale == 2)
    }

    @Test(arguments: [0, -1, Double.nan, Double.infinity])
    func aScaleThatIsNoneIsOne(scale: Double) throws {
        let object = try ImageHeadResponseSerializer(scale: scale).responseObject(for: nil, data: try png())
        #expect((object as? ResponseImage)?.scale == 1)
    }

    @Test("F33: a copy has all settings")
    func copiesSettings() {
        var original = ImageHeadResponseSerializer(scale: 3)
        original.acceptableStatusCodes = [201]
        original.acceptableContentTypes = ["image/x"]
        let copy = original
        original.scale = 1
        #expect(copy.scale == 3)
        #expect(copy.acceptableStatusCodes == [201])
        #expect(copy.acceptableContentTypes == ["image/x"])
    }
}
