import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// A sink between its two threads: what one has found out must not be lost on the other.
@Suite(.timeLimit(.minutes(1)))
struct DownloadSinkAttackTests {
    private let folder: TemporaryDirectory
    private let sink: DownloadSink
    private let changes = Recorder<Bool>()

    init() throws {
        folder = try TemporaryDirectory()
        var plan = DownloadPlan(request: try Sample.request())
        plan.options.destination = folder.file("file.bin")
        sink = DownloadSink(plan, progress: Locked(DownloadProgress()))
    }

    private func start(_ place: BodyStart.Place) throws -> BodyStart {
        BodyStart(
            place: place,
            total: 10,
            head: ResponseHead(version: "HTTP/1.1", status: 200, fields: ["ETag": "\"v1\""]),
            url: try #require(URL(string: Sample.address))
        )
    }

    private func open() async throws {
        let sink = sink
        let opened = Gate()
        sink.onChange = { [changes] in changes.append(true) }
        _ = sink.open { _ in opened.open() }
        try await opened.wait()
    }

    /// Has the file get ready for a body; nothing else changes meanwhile.
    private func prepare(_ place: BodyStart.Place) async throws {
        let count = changes.elements.count
        try sink.prepare(start(place))
        try await changes.wait(count: count + 1)
    }

    private func write(_ text: String) throws {
        try sink.write(Array(text.utf8).span)
    }

    private func end() async throws -> SinkEnd {
        let ends = Recorder<SinkEnd>()
        _ = sink.end { ends.append($0) }
        return try #require(try await ends.wait().first)
    }

    /// Five bytes are there, and others came in their place.
    private func findDifference() async throws {
        try await open()
        try await prepare(.start(nil))
        try write("01234")
        sink.flush()
        try await prepare(.again(from: 0))
        let count = changes.elements.count
        try write("x1234")
        try await changes.wait(count: count + 1)
        #expect(sink.demand == .overlapDiffers)
    }

    @Test("S21") func aDemandSurvivesTheArrivalOfTheRest() async throws {
        try await findDifference()
        // The connection had broken, and the rest was asked for before that was known.
        try await prepare(.end)
        #expect(sink.demand == .overlapDiffers)
        try write("56789")
        guard case .mustStartOver(.overlapDiffers) = try await end() else {
            Issue.record("two files were joined")
            return
        }
        #expect(sink.count == 5)
    }

    @Test func aDemandIsMetByTheWhole() async throws {
        try await findDifference()
        try await prepare(.start(.overlapDiffers))
        #expect(sink.demand == nil && sink.count == 0)
        try write("x123456789")
        guard case .done = try await end() else {
            Issue.record("the whole was not taken")
            return
        }
        #expect(try Data(contentsOf: folder.file("file.bin")) == Data("x123456789".utf8))
    }

    @Test("S21") func whatWasNotComparedToItsEndIsNotComplete() async throws {
        try await open()
        try await prepare(.start(nil))
        try write("01234")
        sink.flush()
        try await prepare(.again(from: 0))
        try write("012")
        guard case .mustStartOver(.overlapDiffers) = try await end() else {
            Issue.record("an answer that ended early was taken")
            return
        }
    }

    @Test("S21") func aComparisonThatBrokeOffCanContinueWithTheRest() async throws {
        try await open()
        try await prepare(.start(nil))
        try write("01234")
        try await prepare(.again(from: 0))
        try write("012")
        sink.flush()
        try await prepare(.end)
        #expect(sink.count == 5)
        try write("56789")
        guard case .done = try await end() else {
            Issue.record("the rest was not taken")
            return
        }
        #expect(try Data(contentsOf: folder.file("file.bin")) == Data("0123456789".utf8))
    }
}
