import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A pause in the middle of a body, everything a server may do meanwhile, and the bytes that are there at the end.
@Suite(.timeLimit(.minutes(1)))
struct PauseAndResumeTests {
    enum Destination: CaseIterable, Sendable {
        case memory
        case file
        case stream
        case pieces

        /// Whether what came cannot be taken back.
        var isForGood: Bool { self == .stream || self == .pieces }
    }

    /// Has the body of an operation go somewhere.
    private struct Reading {
        private let destination: Destination
        private let file: URL
        private var pieces: Task<Data, any Error>?

        init(of operation: HTTPRequestOperation, to destination: Destination, _ file: URL) {
            (self.destination, self.file) = (destination, file)
            switch destination {
            case .memory: break
            case .file: operation.outputFile = file
            case .stream: operation.outputStream = OutputStream(url: file, append: false)
            case .pieces:
                let sequence = operation.bodyPieces()
                pieces = Task {
                    var data = Data()
                    for try await piece in sequence { data.append(piece) }
                    return data
                }
            }
        }

        /// The bytes that came.
        func result(_ object: (any Sendable)?) async throws -> Data? {
            switch destination {
            case .memory: object as? Data
            case .file, .stream: try Data(contentsOf: file)
            case .pieces: try await pieces?.value
            }
        }
    }

    /// The server's state at the second request.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var first = old
        let second: Representation
        /// Whether the bytes that are there may be kept.
        var isKept = false
        /// Whether a stream, which cannot be emptied, can still come to a good end.
        var streamEndsWell = false
        /// Whether the connection is kept during a pause of a stream, since nothing names what it has taken.
        var holdsStream = false
    }

    private static let body = PatternBody(seed: 1, length: 300_000)
    private static let otherBody = PatternBody(seed: 2, length: 300_000)
    private static let shortBody = PatternBody(seed: 3, length: 1000)
    private static let old = Representation(.pattern(body), entityTag: .strong("v1"))
    private static let new = Representation(.pattern(otherBody), entityTag: .strong("v2"))

    private static func misbehaving(_ misbehavior: Representation.Misbehavior) -> Representation {
        old.misbehaving(misbehavior)
    }

    static let changes: [Change] = [
        Change(testDescription: "S1 the same file", second: old, isKept: true, streamEndsWell: true),
        Change(testDescription: "S20 another file", second: new),
        Change(
            testDescription: "S20 another, shorter file",
            second: Representation(.pattern(shortBody), entityTag: .strong("v2"))
        ),
        Change(
            testDescription: "S21 ranges ignored",
            second: misbehaving(.ignoresRange),
            streamEndsWell: true
        ),
        Change(
            testDescription: "S11 another file, If-Range ignored",
            second: new.misbehaving(.ignoresIfRange)
        ),
        Change(testDescription: "S3 a gap", second: misbehaving(.shiftsRange(by: 7)), streamEndsWell: true),
        Change(
            testDescription: "S2 an overlap",
            second: misbehaving(.shiftsRange(by: -7)),
            streamEndsWell: true
        ),
        Change(testDescription: "S5 another total", second: misbehaving(.misstatesTotal(300_001))),
        Change(
            testDescription: "S7 no Content-Range",
            second: misbehaving(.sendsContentRange(nil)),
            streamEndsWell: true
        ),
        Change(
            testDescription: "S10 nonsense for a Content-Range",
            second: misbehaving(.sendsContentRange("bytes 9-1/x")),
            streamEndsWell: true
        ),
        Change(
            testDescription: "S13 a content coding on a part",
            second: misbehaving(.sendsPartialContentCoding("gzip")),
            streamEndsWell: true
        ),
        Change(
            testDescription: "S22 no validator at all",
            first: Representation(.pattern(body)),
            second: Representation(.pattern(body)),
            streamEndsWell: true,
            holdsStream: true
        ),
        Change(
            testDescription: "P10 a weak tag",
            first: Representation(.pattern(body), entityTag: .weak("v1")),
            second: Representation(.pattern(body), entityTag: .weak("v1")),
            streamEndsWell: true,
            holdsStream: true
        ),
    ]

    @Test(arguments: changes, Destination.allCases)
    func theEndIsTheWholeFileOrAnErrorAndNeverAMixture(_ change: Change, _ destination: Destination)
        async throws
    {
        let gate = Gate()
        let server = try ScriptedServer(
            serving: change.first,
            answers: [.currentRepresentation.held(after: .body(100_000), by: gate), .currentRepresentation]
        )
        let directory = try TemporaryDirectory()
        let file = directory.file("body")
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        let reading = Reading(of: operation, to: destination, file)
        let progress = Recorder<Int64>()
        operation.setDownloadProgress { _, total, _ in progress.append(total) }

        operation.start()
        _ = try await progress.wait()
        operation.pause()
        let isHeld = destination.isForGood && change.holdsStream
        try await server.waitForOpenConnections(isHeld ? 1 : 0)
        server.setRepresentation(change.second)
        gate.open()
        operation.resume()
        let result = await Result(awaiting: { try await operation.value })

        // The value needs no callback; the last progress is one.
        operation.completionQueue?.sync {}
        let expected = change.second.body.data
        switch result {
        case .success(let object):
            #expect(!destination.isForGood || change.streamEndsWell)
            #expect(try await reading.result(object) == expected)
            #expect(progress.elements.last == Int64(expected.count))
        case .failure(let error):
            #expect(destination.isForGood && !change.streamEndsWell, "\(error)")
            #expect(error as? ResumeError == .representationChanged, "\(error)")
            guard destination == .pieces else { break }
            await #expect(throws: ResumeError.representationChanged) { try await reading.result(nil) }
        }
        let kept = operation.metrics?.bytesKept ?? 0
        #expect((kept > 0) == change.isKept)
        if isHeld { #expect(server.requests.count == 1) }
        if change.isKept {
            #expect(server.requests[1]["Range"] == "bytes=\(kept)-")
            #expect(server.requests[1]["If-Range"] == "\"v1\"")
            #expect(progress.elements == progress.elements.sorted())
        }
    }

    @Test func aStrongDateIsAValidatorToo() async throws {
        let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
        let gate = Gate()
        let server = try ScriptedServer([
            .respond(
                200,
                ["Last-Modified": modified, "Date": "Sun, 06 Nov 1994 08:50:00 GMT"],
                body: "0123456789"
            ).held(after: 4, by: gate),
            .respond(
                206,
                ["Last-Modified": modified, "Content-Range": "bytes 4-9/10"],
                body: "456789"
            ),
        ])
        let operation = try await paused(HTTPRequestOperation(request: URLRequest(url: server.url)), server)
        operation.resume()
        gate.open()
        #expect(try await operation.value as? Data == Data("0123456789".utf8))
        #expect(server.requests[1]["If-Range"] == modified)
    }

    @Test func aPostIsNeverContinued() async throws {
        let gate = Gate()
        let server = try ScriptedServer([
            .respond(200, ["ETag": "\"v1\""], body: "0123456789").held(after: 4, by: gate),
            .respond(200, ["ETag": "\"v1\""], body: "0123456789"),
        ])
        var request = URLRequest(url: server.url)
        request.httpMethod = "POST"
        request.httpBody = Data("body".utf8)
        let operation = try await paused(HTTPRequestOperation(request: request), server)
        operation.resume()
        gate.open()
        #expect(try await operation.value as? Data == Data("0123456789".utf8))
        #expect(server.requests[1]["Range"] == nil)
        #expect(server.requests.map(\.text) == ["body", "body"])
    }

    @Test func aPauseBeforeTheFirstByteRequestsEverything() async throws {
        let server = try ScriptedServer([.silence, .respond(200, ["ETag": "\"v1\""], body: "0123456789")])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.start()
        try await server.waitForStalls(count: 1)
        operation.pause()
        try await server.waitForOpenConnections(0)
        operation.resume()
        #expect(try await operation.value as? Data == Data("0123456789".utf8))
        #expect(server.requests[1]["Range"] == nil && server.requests[1]["If-Range"] == nil)
    }

    @Test(arguments: Destination.allCases)
    func aRangeOfTheCallersIsRequestedAgainAndWrittenTwiceNowhere(_ destination: Destination) async throws {
        let gate = Gate()
        let answer = Answer.respond(206, ["Content-Range": "bytes 0-9/10"], body: "0123456789")
        let server = try ScriptedServer([answer.held(after: 4, by: gate), answer])
        let directory = try TemporaryDirectory()
        let file = directory.file("body")
        var request = URLRequest(url: server.url)
        request.setValue("bytes=0-", forHTTPHeaderField: "Range")
        let unstarted = HTTPRequestOperation(request: request)
        let reading = Reading(of: unstarted, to: destination, file)
        let isHeld = destination.isForGood
        let operation = try await paused(unstarted, server, isHeld: isHeld)
        operation.resume()
        gate.open()
        let object = try await operation.value
        #expect(server.requests.map { $0["Range"] } == (isHeld ? ["bytes=0-"] : ["bytes=0-", "bytes=0-"]))
        #expect(try await reading.result(object) == Data("0123456789".utf8))
    }

    @Test func manyPausesInOneDownload() async throws {
        let body = PatternBody(length: 2 << 20)
        let server = try ScriptedServer(
            serving: Representation(.pattern(body), entityTag: .strong("v1")),
            answers: [.currentRepresentation.throttled(to: 8 << 20)]
        )
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        let progress = Recorder<Int64>()
        operation.setDownloadProgress { _, total, _ in
            progress.append(total)
            operation.pause()
            operation.resume()
        }
        operation.start()
        let data = try #require(try await operation.value as? Data)
        #expect(body.firstDifference(from: data) == nil)
        #expect(progress.elements == progress.elements.sorted())
        #expect(server.requests.dropFirst().allSatisfy { $0["Range"] == nil || $0["If-Range"] != nil })
    }

    @Test func resumingTwiceMakesOneTransfer() async throws {
        let server = try ScriptedServer([.silence, .respond(body: "done")])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.start()
        try await server.waitForStalls(count: 1)
        operation.pause()
        operation.resume()
        operation.resume()
        #expect(try await operation.value as? Data == Data("done".utf8))
        #expect(server.requests.count == 2)
    }

    @Test func cancellingAPausedOperationFinishesIt() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "0123456789").held(after: 4, by: gate)])
        let operation = try await paused(HTTPRequestOperation(request: URLRequest(url: server.url)), server)
        operation.cancel()
        await #expect(throws: URLError.self) { try await operation.value }
        #expect(operation.isFinished)
        #expect((operation.error as? URLError)?.code == .cancelled)
        #expect(operation.responseData == Data("0123".utf8))
        #expect(operation.metrics?.bytesReceived == 4)
    }

    private func paused(
        _ operation: HTTPRequestOperation,
        _ server: ScriptedServer,
        isHeld: Bool = false
    ) async throws -> HTTPRequestOperation {
        operation.completionQueue = DispatchQueue(label: "callbacks")
        let progress = Recorder<Int64>()
        operation.setDownloadProgress { _, total, _ in progress.append(total) }
        operation.start()
        _ = try await progress.wait()
        operation.pause()
        try await server.waitForOpenConnections(isHeld ? 1 : 0)
        return operation
    }
}
