import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Requests that were stopped within their body, and are archived: what the later operation asks for, and gets.
@Suite(.timeLimit(.minutes(1)))
struct PausedArchiveTests {
    private static let body = PatternBody(seed: 1, length: 300_000)
    private static let otherBody = PatternBody(seed: 2, length: 200_000)
    private static let old = Representation(.pattern(body), entityTag: .strong("v1"))
    private static let new = Representation(.pattern(otherBody), entityTag: .strong("v2"))
    private static let modified = Date(timeIntervalSince1970: 784_111_777)

    /// The first answer stops after a third; the others are whole.
    private static func server(_ first: Representation, then second: Representation) throws -> ScriptedServer
    {
        try ScriptedServer { request in
            request.number == 0 ? .representation(first).stalling(after: 100_000) : .representation(second)
        }
    }

    private func operation(_ url: URL) -> HTTPRequestOperation {
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        // Other tests leave cookies in the process's jar, and these name a user.
        operation.cookieJar = nil
        return operation
    }

    /// Starts it, waits for some of its body, and stops it.
    private func begin(_ operation: HTTPRequestOperation) async throws {
        let progress = Recorder<Int64>()
        operation.setDownloadProgress { _, total, _ in progress.append(total) }
        operation.start()
        try await progress.wait()
        operation.pause()
    }

    private func archived(_ operation: ConnectionOperation) throws -> OperationArchive {
        let archive = try #require(operation.archive)
        return try JSONDecoder().decode(OperationArchive.self, from: JSONEncoder().encode(archive))
    }

    @Test func aBodyInMemoryContinuesInAnotherProcess() async throws {
        let server = try Self.server(Self.old, then: Self.old)
        let operation = operation(server.url)
        try await begin(operation)
        let archive = try JSONEncoder().encode(try #require(operation.archive))

        await #expect(processExitsWith: .success) { [archive = archive as Data] in
            alarm(50)
            let archive = try JSONDecoder().decode(OperationArchive.self, from: archive)
            let operation = HTTPRequestOperation(archive: archive)
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.start()
            let data = try await operation.value as? Data
            guard data == PatternBody(seed: 1, length: 300_000).data else { _exit(2) }
            // What the closure holds would be a leak to a sanitizer.
            _exit((operation.metrics?.bytesKept ?? 0) > 0 ? 0 : 3)
        }
        #expect(server.requests.count == 2)
        #expect(server.requests[1]["Range"]?.hasPrefix("bytes=") == true)
        #expect(server.requests[1]["If-Range"] == "\"v1\"")
    }

    /// The state of the server at the second request.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var first = old
        var second = old
        /// Whether a range is asked for.
        var asksForRest = true
        var validator: String? = "\"v1\""
        /// Whether the bytes that are there are kept.
        var isKept = true
    }

    static let changes: [Change] = [
        Change(testDescription: "a strong tag"),
        Change(
            testDescription: "a strong date",
            first: Representation(.pattern(body), lastModified: modified),
            second: Representation(.pattern(body), lastModified: modified),
            validator: "Sun, 06 Nov 1994 08:49:37 GMT"
        ),
        Change(testDescription: "another file", second: new, isKept: false),
        Change(
            testDescription: "another file, If-Range ignored",
            second: new.misbehaving(.ignoresIfRange),
            isKept: false
        ),
        Change(testDescription: "ranges ignored", second: old.misbehaving(.ignoresRange), isKept: false),
        Change(
            testDescription: "a weak tag",
            first: Representation(.pattern(body), entityTag: .weak("v1")),
            asksForRest: false,
            isKept: false
        ),
        Change(
            testDescription: "no validator",
            first: Representation(.pattern(body)),
            asksForRest: false,
            isKept: false
        ),
    ]

    @Test(arguments: changes)
    func theEndIsTheWholeAndNeverAMixture(_ change: Change) async throws {
        let server = try Self.server(change.first, then: change.second)
        let first = operation(server.url)
        try await begin(first)
        let later = HTTPRequestOperation(archive: try archived(first))
        #expect(later.isReady && !later.isFinished)
        later.start()
        #expect(try await later.value as? Data == change.second.body.data)
        let request = server.requests[1]
        #expect((request["Range"] != nil) == change.asksForRest)
        #expect(request["If-Range"] == (change.asksForRest ? change.validator : nil))
        #expect((later.metrics?.bytesKept ?? 0 > 0) == change.isKept)
    }

    /// A tag distinguishes versions of one resource. What is another user's is found by an overlap.
    @Test(arguments: [true, false]) func bytesOfAnotherUserAreCompared(isSame: Bool) async throws {
        let other = Representation(.pattern(PatternBody(seed: 3, length: 300_000)), entityTag: .strong("v1"))
        let second = isSame ? Self.old : other
        let server = try Self.server(Self.old, then: second)
        let first = operation(server.url)
        first.credential = Credential(user: "ann", password: "secret")
        try await begin(first)
        let archive = try archived(first)
        #expect(!String(decoding: try JSONEncoder().encode(archive), as: UTF8.self).contains("secret"))
        let later = HTTPRequestOperation(archive: archive)
        later.credential = Credential(user: "bob", password: "secret")
        later.start()
        #expect(try await later.value as? Data == second.body.data)
        #expect(server.requests.count >= 2)
    }

    @Test func whatCannotBeRequestedInPartsStartsOver() async throws {
        let directory = try TemporaryDirectory()
        for usesFile in [true, false] {
            let server = try Self.server(Self.old, then: Self.old)
            let first = operation(server.url)
            if usesFile {
                first.outputFile = directory.file()
            } else {
                first.bodySource = .data(Data("question".utf8))
            }
            try await begin(first)
            let later = HTTPRequestOperation(archive: try archived(first))
            // The file is the first one's until its end.
            first.cancel()
            _ = try? await first.value
            later.start()
            let data = try await later.value as? Data
            #expect(
                try usesFile
                    ? Self.body.firstDifference(fromFile: directory.file()) == nil : data == Self.body.data
            )
            #expect(server.requests.count == 2 && server.requests[1]["Range"] == nil)
        }
    }

    @Test func anArchiveOfAnArchiveHasTheBytesAndTheLimits() async throws {
        let server = try Self.server(Self.old, then: Self.old)
        let first = operation(server.url)
        first.maximumResponseDataLength = 400_000
        first.maximumDecodedLength = 500_000
        try await begin(first)
        let later = HTTPRequestOperation(
            archive: try archived(HTTPRequestOperation(archive: try archived(first)))
        )
        #expect(later.maximumResponseDataLength == 400_000)
        #expect(later.maximumDecodedLength == 500_000)
        later.start()
        #expect(try await later.value as? Data == Self.body.data)
        #expect(server.requests[1]["Range"] != nil)
    }

    @Test func anOperationThatRunsIsArchivedWithWhatCame() async throws {
        let server = try Self.server(Self.old, then: Self.old)
        let first = operation(server.url)
        let progress = Recorder<Int64>()
        first.setDownloadProgress { _, total, _ in progress.append(total) }
        first.start()
        try await progress.wait()
        let later = HTTPRequestOperation(archive: try archived(first))
        later.start()
        #expect(try await later.value as? Data == Self.body.data)
        #expect(server.requests[1]["Range"] != nil)
        first.cancel()
    }
}
