import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

/// Bodies that came in a content coding: what is counted, and how much of it is believed.
@Suite(.timeLimit(.minutes(1)))
struct ContentCodingTests {
    /// A mebibyte of zeros in a kilobyte of gzip. Members may follow each other (RFC 1952 §2.2).
    private static let megabyteOfZeros =
        Data(
            base64Encoded: "H4sIAAAAAAACA+3BMQEAAADCoPVPbQhfo" + String(repeating: "A", count: 1355)
                + "PgMc6jinAAAQAA=="
        ) ?? Data()

    private static func bomb(megabytes: Int) -> Data {
        (0..<megabytes).reduce(into: Data()) { bomb, _ in bomb.append(megabyteOfZeros) }
    }

    private func operation(receiving body: Data) throws -> (HTTPRequestOperation, ScriptedServer) {
        let server = try ScriptedServer([.respond(200, ["Content-Encoding": "gzip"], body: .data(body))])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        return (operation, server)
    }

    @Test("F42: bytes of the wire and decoded bytes are both reported")
    func bothCounts() async throws {
        let (operation, server) = try operation(receiving: Self.bomb(megabytes: 3))
        let progress = Recorder<[Int64]>()
        operation.setDownloadProgress { progress.append([Int64($0), $1, $2]) }
        operation.start()
        _ = try await operation.value
        operation.completionQueue?.sync {}
        withExtendedLifetime(server) {}
        let metrics = try #require(operation.metrics)
        #expect(metrics.bytesReceived == Int64(3 * Self.megabyteOfZeros.count))
        #expect(metrics.bytesDecoded == 3 << 20)
        // The length in the head is that of the wire: what is expected after decoding is not known.
        #expect(progress.elements.last?.dropFirst() == [3 << 20, -1])
        #expect(progress.elements.allSatisfy { $0[2] == -1 })
    }

    @Test func aBodyThatIsNotCodedCountsAsDecoded() async throws {
        let server = try ScriptedServer([.respond(body: "12345")])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.start()
        _ = try await operation.value
        #expect(operation.metrics?.bytesReceived == 5)
        #expect(operation.metrics?.bytesDecoded == 5)
    }

    @Test func aBodyThatDecodesToMoreThanItsLimitIsAnError() async throws {
        let (operation, server) = try operation(receiving: Self.bomb(megabytes: 4))
        operation.maximumDecodedLength = 2 << 20
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        withExtendedLifetime(server) {}
        #expect(error?.code == .dataLengthExceedsMaximum)
        #expect(error?.localizedDescription.contains("maximumDecodedLength") == true)
        // A piece that is decoded at once has 64 KiB.
        #expect((operation.responseData?.count ?? 0) <= 2 << 20)
        #expect((operation.metrics?.bytesDecoded ?? .max) <= (2 << 20) + (64 << 10))
    }

    @Test func aBodyOfExactlyItsLimitIsNone() async throws {
        let (operation, server) = try operation(receiving: Self.bomb(megabytes: 2))
        operation.maximumDecodedLength = 2 << 20
        operation.start()
        #expect(try await operation.value as? Data == Data(count: 2 << 20))
        withExtendedLifetime(server) {}
    }

    @Test func aBombIsRefusedWithoutAnySetting() async throws {
        let (operation, server) = try operation(receiving: Self.bomb(megabytes: 300))
        #expect(operation.maximumDecodedLength == 256 << 20)
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        withExtendedLifetime(server) {}
        #expect(error?.code == .dataLengthExceedsMaximum)
    }

    @Test func theLimitHoldsForTheBodyOfAnErrorToo() async throws {
        let server = try ScriptedServer([
            .respond(500, ["Content-Encoding": "gzip"], body: .data(Self.bomb(megabytes: 4)))
        ])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.maximumDecodedLength = 1 << 20
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .dataLengthExceedsMaximum)
    }
}
