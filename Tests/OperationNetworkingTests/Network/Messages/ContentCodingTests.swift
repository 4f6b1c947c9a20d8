import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Bodies that came in a content coding: what is counted, and how much of it is believed.
@Suite(.timeLimit(.minutes(1)))
struct ContentCodingTests {
    private func operation(receiving body: Data) throws -> (HTTPRequestOperation, ScriptedServer) {
        let server = try ScriptedServer([.respond(200, ["Content-Encoding": "gzip"], body: .data(body))])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        return (operation, server)
    }

    @Test("F42: received and decoded bytes are both reported")
    func bothCounts() async throws {
        let (operation, server) = try operation(receiving: Zeros.inGzip(megabytes: 3))
        let progress = Recorder<[Int64]>()
        operation.setDownloadProgress { progress.append([Int64($0), $1, $2]) }
        operation.start()
        _ = try await operation.value
        operation.completionQueue?.sync {}
        withExtendedLifetime(server) {}
        let metrics = try #require(operation.metrics)
        #expect(metrics.bytesReceived == Int64(3 * Zeros.codedLength))
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

    /// Each is more than a pass of the network thread takes.
    @Test(arguments: ["many chunks", "a bomb", "a bomb in chunks"])
    func whatWaitsForTheNextPassComesWhole(kind: String) async throws {
        let text = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let answer: Answer =
            switch kind {
            case "many chunks": .respond(body: .data(text)).chunked(size: 1)
            case "a bomb":
                .respond(200, ["Content-Encoding": "gzip"], body: .data(Zeros.inGzip(megabytes: 20)))
            default:
                .respond(200, ["Content-Encoding": "gzip"], body: .data(Zeros.inGzip(megabytes: 20)))
                    .chunked(size: 7)
            }
        let server = try ScriptedServer([answer])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.start()
        let data = try #require(try await operation.value as? Data)
        withExtendedLifetime(server) {}
        #expect(data == (kind == "many chunks" ? text : Data(count: 20 << 20)))
    }

    @Test func aBodyThatDecodesToMoreThanItsLimitIsAnError() async throws {
        let (operation, server) = try operation(receiving: Zeros.inGzip(megabytes: 4))
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

    @Test func aBodyOfExactlyItsLimitIsAccepted() async throws {
        let (operation, server) = try operation(receiving: Zeros.inGzip(megabytes: 2))
        operation.maximumDecodedLength = 2 << 20
        operation.start()
        #expect(try await operation.value as? Data == Data(count: 2 << 20))
        withExtendedLifetime(server) {}
    }

    @Test func aBombIsRefusedWithoutAnySetting() async throws {
        let (operation, server) = try operation(receiving: Zeros.inGzip(megabytes: 300))
        #expect(operation.maximumDecodedLength == 256 << 20)
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        withExtendedLifetime(server) {}
        #expect(error?.code == .dataLengthExceedsMaximum)
    }

    @Test func theLimitHoldsForTheBodyOfAnErrorToo() async throws {
        let server = try ScriptedServer([
            .respond(500, ["Content-Encoding": "gzip"], body: .data(Zeros.inGzip(megabytes: 4)))
        ])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.maximumDecodedLength = 1 << 20
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .dataLengthExceedsMaximum)
    }

    // MARK: - Codings

    private static let text = Data("hello, hello, hello".utf8)
    private static let gzip = bytes("H4sIAAAAAAACA8tIzcnJ11HIQKIAn6HKCRMAAAA=")
    /// Deflate, and gzip around it.
    private static let stacked = bytes("H4sIAAAAAAACA6u4ddrj7MmT1wNPOCxicNFguwoAUQ6lrREAAAA=")

    private static func bytes(_ base64: String) -> Data { Data(base64Encoded: base64) ?? Data() }

    private func operation(_ fields: FieldLines, _ body: Data) throws -> (
        HTTPRequestOperation, ScriptedServer
    ) {
        let server = try ScriptedServer([.respond(200, fields, body: .data(body))])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.start()
        return (operation, server)
    }

    /// Apache has brotli, nginx gzip, and a file that zstd(1) made.
    @Test(
        .enabled(if: RealServers.apache != nil && RealServers.nginx != nil),
        arguments: ["gzip", "br", "zstd"]
    )
    func everyCodingOfARealServerIsUndone(coding: String) async throws {
        let server = try #require(coding == "br" ? RealServers.apache : RealServers.nginx)
        let operation = HTTPRequestOperation(
            request: URLRequest(url: server.appending(path: "\(coding)/text.txt"))
        )
        operation.start()
        let body = try #require(try await operation.value as? Data)
        #expect(operation.response?.value(forHTTPHeaderField: "Content-Encoding") == coding)
        let root = try #require(RealServers.nginxRoot)
        #expect(try body == Data(contentsOf: root.appending(path: "text.txt")))
        let metrics = try #require(operation.metrics)
        #expect(metrics.bytesReceived < metrics.bytesDecoded)
    }

    @Test("A bomb of 38 octets and one of 14 end at the limit", arguments: ["br", "zstd"])
    func bombsInEveryCodingEnd(coding: String) async throws {
        let zeros = Self.bytes(
            coding == "br"
                ? "W///j38CIB4LBHLvHwA="
                : "KLUv/QRoTAAACAABAPz/ORACAgAQAAIAEAACABAAAgAQAAIAEAACABAAAwAQAPE+FuE="
        )
        let server = try ScriptedServer([.respond(200, ["Content-Encoding": coding], body: .data(zeros))])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.maximumDecodedLength = (1 << 20) - 1
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .dataLengthExceedsMaximum)
        withExtendedLifetime(server) {}
    }

    /// curl's test cases 230 and 328.
    @Test(arguments: [
        (["none"], text), (["identity"], text), (["none, gzip"], gzip), (["deflate, gzip"], stacked),
        (["deflate", "GZIP"], stacked), (["br"], CodedBody.brotli), (["none", "Zstd"], CodedBody.zstd),
    ])
    func everyRequestedCodingIsDecoded(codings: [String], body: Data) async throws {
        let (operation, server) = try operation(FieldLines(codings.map { ("Content-Encoding", $0) }), body)
        #expect(try await operation.value as? Data == Self.text)
        withExtendedLifetime(server) {}
    }

    @Test(arguments: [("deflate, gzip", stacked.dropLast(9)), ("gzip", gzip.dropLast())])
    func aTruncatedCodedBodyIsAnError(coding: String, body: Data) async throws {
        let (operation, server) = try operation(["Content-Encoding": coding], Data(body))
        let error = await #expect(throws: URLError.self) { try await operation.value }
        withExtendedLifetime(server) {}
        #expect(error?.code == .cannotDecodeRawData)
    }

    @Test(arguments: ["compress", "dcz", "gzip, compress", "utf-8", "gzip, gzip, gzip, gzip, gzip"])
    func aCodingThatWasNotRequestedIsAnError(coding: String) async throws {
        let (operation, server) = try operation(["Content-Encoding": coding], Self.gzip)
        let error = await #expect(throws: URLError.self) { try await operation.value }
        withExtendedLifetime(server) {}
        #expect(error?.code == .cannotDecodeContentData)
        #expect(error?.localizedDescription.contains(coding) == true)
    }

    /// The outer coding's zeros are padding for the inner one: next to nothing comes out at the end.
    @Test func theLimitHoldsForEachOfSeveralCodings() async throws {
        let twice = Self.bytes("H4sIAAAAAAACA5Pv5mAAASbm0x5nT568HnjCYRHD/IWnOIWBggDyXqElHQAAAA==")
        let server = try ScriptedServer { request in
            let padding = request.path == "/bomb" ? Zeros.inGzip(megabytes: 4) : Data()
            return .respond(200, ["Content-Encoding": "gzip, gzip"], body: .data(twice + padding))
        }
        for path in ["/", "/bomb"] {
            let operation = HTTPRequestOperation(request: URLRequest(url: server.url(path: path)))
            operation.maximumDecodedLength = 1 << 20
            operation.start()
            _ = try? await operation.value
            let isBomb = path == "/bomb"
            #expect((operation.error as? URLError)?.code == (isBomb ? .dataLengthExceedsMaximum : nil))
            #expect(isBomb || operation.responseData == Self.text)
        }
    }
}
