import Foundation
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// A body that decodes to more than a pass of the network thread has the time for.
struct IncomingBodyTests {
    private let coded = Zeros.inGzip(megabytes: 3)
    private let request: TransferRequest

    init() throws {
        request = .plain(try #require(URL(string: "http://a/")), acceptsContentCoding: true)
    }

    private func body() -> IncomingBody {
        let fields: HeaderFields = ["Content-Encoding": "gzip", "Content-Length": "\(coded.count)"]
        return IncomingBody(
            ResponseHead(version: "HTTP/1.1", status: 200, fields: fields),
            answering: request
        )
    }

    /// The piece comes again until all of it is taken.
    @Test func aPassTakesAPart() throws {
        var body = body()
        var (total, passes, isTaken) = (0, 0, false)
        while !isTaken {
            let before = total
            isTaken = try body.take(coded.span, of: request) { total += $0.count }
            #expect(total - before <= IncomingBody.passBudget + 64 * 1024)
            passes += 1
        }
        #expect(total == 3 << 20 && passes >= 5)
        #expect(body.received == Int64(coded.count) && body.decoded == 3 << 20)
        #expect(body.lengthError == nil && body.codingError == nil)
    }

    /// A piece that comes again may be cut elsewhere, and have more behind it.
    @Test(arguments: [1, 100, 1000, 4000, 100_000])
    func whatComesAgainIsDecodedOnce(length: Int) throws {
        var body = body()
        var (total, start) = (0, 0)
        // libcurl has read so much, and brings it again.
        _ = try body.take(coded.prefix(2000).span, of: request) { total += $0.count }
        while start < coded.count {
            let end = min(start + length, coded.count)
            let isTaken = try body.take(coded[start..<end].span, of: request) { total += $0.count }
            if isTaken { start = end }
        }
        #expect(total == 3 << 20 && body.received == Int64(coded.count))
        #expect(body.lengthError == nil && body.codingError == nil)
    }

    @Test func aBodyWithoutACodingIsTakenAtOnce() throws {
        var body = IncomingBody(
            ResponseHead(version: "HTTP/1.1", status: 200, fields: [:]),
            answering: request
        )
        let bytes = Data(count: 2 << 20)
        let isTaken = try body.take(bytes.span, of: request) { #expect($0.count == bytes.count) }
        #expect(isTaken && body.newBytes(of: 5) == 5)
    }

    @Test func manyPiecesOfOnePassWaitForTheNext() {
        var pieces = PassQuota()
        for pass in UInt64(1)...2 {
            let taken = (0..<PassQuota.limit + 3).map { _ in pieces.take(in: pass) }
            #expect(taken.count { $0 } == PassQuota.limit && taken.last == false)
        }
    }
}
