import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A serializer that sees the request, the file and the cost.
@Suite(.timeLimit(.minutes(1)))
struct TransferResponseSerializerTests {
    private struct Whole: TransferResponseSerializer {
        func responseObject(for transfer: ReceivedTransfer) throws -> (any Sendable)? {
            let path = transfer.request?.url?.path ?? "no request"
            let received = transfer.metrics?.bytesReceived ?? -1
            return "\(path) \(transfer.response?.statusCode ?? 0) \(transfer.data?.count ?? -1) \(received)"
        }
    }

    @Test(arguments: [false, true]) func itSeesTheRequestAndTheMetrics(isInCompound: Bool) async throws {
        let server = try ScriptedServer { _ in .respond(body: "four") }
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url(path: "a")))
        operation.responseSerializer =
            isInCompound ? CompoundResponseSerializer([JSONResponseSerializer(), Whole()]) : Whole()
        operation.start()
        #expect(try await operation.value as? String == "/a 200 4 4")
    }

    private struct FileReader: TransferResponseSerializer {
        let seen: Recorder<String>

        func responseObject(for transfer: ReceivedTransfer) throws -> (any Sendable)? {
            seen.append(try transfer.file.map { try String(contentsOf: $0, encoding: .utf8) } ?? "no file")
            guard transfer.response?.statusCode == 200 else { throw URLError(.badServerResponse) }
            return transfer.file?.lastPathComponent
        }
    }

    @Test func itSeesTheFile() async throws {
        let server = try ScriptedServer([.respond(body: "four"), .respond(404, body: "no")])
        let folder = try TemporaryDirectory()
        let seen = Recorder<String>()
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.responseSerializer = FileReader(seen: seen)
        operation.outputFile = folder.file()
        operation.start()
        #expect(try await operation.value as? String == "file")
        // The body of an error did not go there.
        let second = operation.copied()
        second.start()
        await #expect(throws: URLError.self) { try await second.value }
        #expect(seen.elements == ["four", "no file"])
    }

    @Test func outsideAnOperationTheRestIsUnknown() throws {
        #expect(try Whole().responseObject(for: nil, data: Data("x".utf8)) as? String == "no request 0 1 -1")
        let transfer = ReceivedTransfer(
            request: URLRequest(url: URL(fileURLWithPath: "/b")),
            response: nil,
            data: nil
        )
        #expect(try Whole().responseObject(for: transfer) as? String == "/b 0 -1 -1")
    }
}
