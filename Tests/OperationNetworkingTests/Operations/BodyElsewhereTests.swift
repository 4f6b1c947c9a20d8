import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A body that went to a file or a stream is no response object.
@Suite(.timeLimit(.minutes(1)))
struct BodyElsewhereTests {
    private struct Length: ResponseSerializer {
        func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
            data?.count ?? 0
        }
    }

    private struct Item: Decodable {}

    private static let serializers: [any ResponseSerializer] = [
        HTTPResponseSerializer(), JSONResponseSerializer(), PropertyListResponseSerializer(),
        XMLParserResponseSerializer(), XMLDocumentResponseSerializer(), ImageHeadResponseSerializer(),
        CompoundResponseSerializer([JSONResponseSerializer(), HTTPResponseSerializer()]),
        DecodableResponseSerializer(Item.self), DecodableResponseSerializer(EmptyResponse.self), Length(),
    ]

    @Test(arguments: serializers.indices, [false, true])
    func theObjectOfABodyElsewhereIsNil(index: Int, isFile: Bool) async throws {
        let server = try ScriptedServer { _ in
            .respond(200, ["Content-Type": "application/json"], body: #"{"a": 1}"#)
        }
        let folder = try TemporaryDirectory()
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.responseSerializer = Self.serializers[index]
        if isFile {
            operation.outputFile = folder.file()
        } else {
            operation.outputStream = OutputStream(url: folder.file(), append: false)
        }
        let objects = Recorder<Bool>()
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.setCompletion(success: { objects.append($1 == nil) }, failure: nil)
        operation.start()
        #expect(try await operation.value == nil)
        #expect(operation.responseObject == nil && operation.responseData == nil && operation.error == nil)
        #expect(try await objects.wait() == [true])
        #expect(try String(contentsOf: folder.file(), encoding: .utf8) == #"{"a": 1}"#)
        // Nor in a later process.
        guard isFile, let archive = operation.archive else { return }
        let later = HTTPRequestOperation(archive: archive, responseSerializer: Self.serializers[index])
        #expect(later.isFinished && later.responseObject == nil && later.error == nil)
    }

    @Test func theResponseIsJudgedAnyway() async throws {
        let server = try ScriptedServer { _ in .respond(201, body: "made") }
        let folder = try TemporaryDirectory()
        for serializer in [HTTPResponseSerializer(), JSONResponseSerializer()] as [any ResponseSerializer] {
            let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
            operation.responseSerializer = serializer
            if var http = serializer as? HTTPResponseSerializer {
                http.acceptableStatusCodes = [200]
                operation.responseSerializer = http
            } else if var json = serializer as? JSONResponseSerializer {
                json.acceptableStatusCodes = [200]
                operation.responseSerializer = json
            }
            operation.outputFile = folder.file()
            operation.start()
            await #expect(throws: ResponseSerializationError.self) { try await operation.value }
            #expect(operation.responseObject == nil)
        }
    }

    /// The body of an error stays here, and an empty one is no body elsewhere.
    @Test func bodiesInMemoryAreObjects() async throws {
        let server = try ScriptedServer(
            routes: ["/bad": [.respond(404, ["Content-Type": "application/json"], body: "[1]")]],
            otherwise: [.respond(204)]
        )
        let folder = try TemporaryDirectory()
        let bad = HTTPRequestOperation(request: URLRequest(url: server.url(path: "/bad")))
        bad.responseSerializer = JSONResponseSerializer()
        bad.outputFile = folder.file()
        bad.start()
        _ = try? await bad.value
        #expect(bad.error != nil && (bad.responseObject as? [any Sendable])?.count == 1)
        let empty = HTTPRequestOperation(request: URLRequest(url: server.url))
        empty.start()
        #expect(try await empty.value as? Data == Data())
    }
}
