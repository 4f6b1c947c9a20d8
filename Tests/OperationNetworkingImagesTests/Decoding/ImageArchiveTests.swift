import Foundation
import FoundationNetworking
import Glibc
import OperationNetworking
import OperationNetworkingImages
import OperationNetworkingTesting
import Testing

/// Archives of operations and managers whose images are decoded.
@Suite(.timeLimit(.minutes(1))) struct ImageArchiveTests {
    private let serializer = ImageResponseSerializer(scale: 2, maximumPixelSize: 8)

    @Test func aManagerThatDecodesImagesIsRestoredInAnotherProcess() async throws {
        let manager = OperationManager()
        manager.responseSerializer = serializer
        let archive = try JSONEncoder().encode(manager.archive)
        await #expect(processExitsWith: .success) { [archive = archive as Data] in
            let first = Result { try JSONDecoder().decode(OperationManagerArchive.self, from: archive) }
            guard case .failure(let error as DecodingError) = first,
                "\(error)".contains("OperationNetworkingImages.ImageResponseSerializer")
            else { _exit(2) }
            ImageResponseSerializer.registerForArchives()
            let kept = try JSONDecoder().decode(OperationManagerArchive.self, from: archive)
            let serializer = OperationManager(archive: kept).responseSerializer
            let expected = ImageResponseSerializer(scale: 2, maximumPixelSize: 8)
            _exit(serializer as? ImageResponseSerializer == expected ? 0 : 3)
        }
    }

    @Test func anOperationAndASessionKeepItToo() throws {
        let operation = HTTPRequestOperation(
            request: URLRequest(url: try #require(URL(string: "http://127.0.0.1/")))
        )
        operation.responseSerializer = serializer
        let archive = try JSONDecoder().decode(
            OperationArchive.self,
            from: JSONEncoder().encode(try #require(operation.archive))
        )
        let again = HTTPRequestOperation(archive: archive)
        #expect(again.responseSerializer as? ImageResponseSerializer == serializer)
        let session = HTTPSessionManager(baseURL: nil)
        session.responseSerializer = CompoundResponseSerializer([serializer, JSONResponseSerializer()])
        let kept = try JSONDecoder().decode(
            SessionManagerArchive.self,
            from: JSONEncoder().encode(session.archive)
        )
        let compound = HTTPSessionManager(archive: kept).responseSerializer as? CompoundResponseSerializer
        #expect(compound?.serializers.first as? ImageResponseSerializer == serializer)
    }

    @Test func imagesAreDecodedOnAQueueOfTheirOwn() throws {
        let queue = try #require(serializer.processingQueue)
        #expect(CompoundResponseSerializer([JSONResponseSerializer(), serializer]).processingQueue === queue)
        #expect(queue.width <= 4)
    }
}
