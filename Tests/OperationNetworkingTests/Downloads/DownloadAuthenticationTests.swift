import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Downloads from servers that ask for credentials.
@Suite(.timeLimit(.minutes(1)))
struct DownloadAuthenticationTests {
    private let door = Door()
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func download(_ url: URL) -> DownloadOperation {
        let operation = DownloadOperation(request: URLRequest(url: url), to: directory.file("file"))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.retryPolicy = nil
        operation.credential = door.alice
        return operation
    }

    private func finish(_ operation: DownloadOperation) async throws -> String {
        operation.start()
        _ = try await operation.value
        return try String(contentsOf: directory.file("file"), encoding: .utf8)
    }

    @Test func aFileBehindAuthenticationIsSaved() async throws {
        let server = try door.server()
        #expect(try await finish(download(server.url)) == "open to GET ")
        #expect(server.authorizations == ["-", door.aliceField])
    }

    @Test func theRestIsRequestedWithTheCredential() async throws {
        let server = try ScriptedServer { [door] request in
            guard request["Authorization"] == door.aliceField else { return Door.closed("Basic realm=a") }
            guard let range = request["Range"] else {
                return .respond(200, ["ETag": "\"v1\""], body: "0123456789", breakingAfter: 4)
            }
            return .respond(
                206,
                ["ETag": "\"v1\"", "Content-Range": "bytes 4-9/10", "X-Range": range],
                body: "456789"
            )
        }
        let first = download(server.url)
        first.start()
        _ = try? await first.value
        #expect(first.error != nil)
        #expect(try await finish(download(server.url)) == "0123456789")
        #expect(server.requests.last?["Range"] == "bytes=4-" && server.requests.last?["If-Range"] == "\"v1\"")
    }

    @Test func theReplayOfARefusedResumeRequestsTheSameRange() async throws {
        let isClosed = Flag()
        let server = try ScriptedServer { [door] request in
            guard !isClosed.value || request["Authorization"] == door.aliceField else {
                return Door.closed("Basic realm=a")
            }
            guard request["Range"] != nil else {
                return .respond(200, ["ETag": "\"v1\""], body: "0123456789", breakingAfter: 4)
            }
            return .respond(206, ["ETag": "\"v1\"", "Content-Range": "bytes 4-9/10"], body: "456789")
        }
        let first = download(server.url)
        first.start()
        _ = try? await first.value
        isClosed.set(true)
        #expect(try await finish(download(server.url)) == "0123456789")
        #expect(server.requests.map { $0["Range"] } == [nil, "bytes=4-", "bytes=4-"])
        #expect(server.authorizations == ["-", "-", door.aliceField])
    }

    @Test func aCredentialComesBeforeAnotherAddress() async throws {
        let server = try door.server()
        let operation = download(server.url)
        let asked = Recorder<Int>()
        operation.setRefreshURL { _, response in
            asked.append(response.statusCode)
            return nil
        }
        #expect(try await finish(operation) == "open to GET ")
        #expect(asked.elements.isEmpty)
    }

    @Test func whereTheCredentialIsRefusedAnotherAddressIsRequested() async throws {
        let closed = try door.server(for: "nobody")
        let open = try ScriptedServer([.respond(body: "there")])
        let operation = download(closed.url)
        operation.setRefreshURL { _, response in response.statusCode == 401 ? open.url : nil }
        #expect(try await finish(operation) == "there")
        #expect(closed.authorizations == ["-", door.aliceField] && open.authorizations == ["-"])
    }

    @Test func thePasswordInTheURLIsNeverWrittenToTheDisk() async throws {
        let server = try ScriptedServer { [door] request in
            request["Authorization"] == door.aliceField
                ? .respond(200, ["ETag": "\"v1\""], body: "0123456789", breakingAfter: 4)
                : Door.closed("Basic realm=a")
        }
        let operation = download(server.url.with(user: try #require(door.alice.user), password: "s3cret"))
        operation.credential = nil
        operation.start()
        _ = try? await operation.value
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
        #expect(names.count > 1)
        for name in names {
            let content = try Data(contentsOf: directory.url.appendingPathComponent(name))
            #expect(content.range(of: Data("s3cret".utf8)) == nil, "\(name)")
        }
    }
}
