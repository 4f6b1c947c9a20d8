import Foundation
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct JournalReplayTests {
    private static let folder = URL(fileURLWithPath: "/downloads/", isDirectory: true)
    private static let address = URL(string: "http://host/a?b=c") ?? folder

    private static func item(_ name: String, headers: [String: String] = [:]) -> DownloadItem {
        DownloadItem(url: address, destination: folder.appendingPathComponent(name), headers: headers)
    }

    private static func header(_ count: Int) -> JournalHeader {
        JournalHeader(
            items: (0..<count).map { JournalItem(item("\($0)"), in: folder) },
            options: JournalOptions(DownloadBatch.Options())
        )
    }

    private static func finished(_ member: Int, length: Int64 = 7) -> JournalEntry {
        let stamp = FileStamp(length: length, seconds: 1, nanoseconds: 2)
        let download = DownloadedFile(
            file: folder,
            length: length,
            proof: .length,
            digests: [],
            bytesRecovered: 0,
            restarts: []
        )
        return JournalEntry(member: member, finished: .init(download, stamp: stamp))
    }

    private static func bytes(_ entries: [JournalEntry], count: Int = 4) throws -> [UInt8] {
        try JournalLine.bytes(header(count)) + entries.flatMap { try JournalLine.bytes($0) }
    }

    // MARK: - What is written comes back

    private static let proofs: [DownloadedFile.Proof] =
        [.length, .overlap, .range(5..<12), .unverifiable]
        + [FileDigest("md5:9e107d9d372bb6826bd81d3542a419d6")].compactMap { $0.map { .digest($0) } }

    @Test(arguments: proofs)
    func aProofIsTheSameInALaterProcess(_ proof: DownloadedFile.Proof) throws {
        let download = DownloadedFile(
            file: Self.folder,
            length: 7,
            proof: proof,
            digests: [],
            bytesRecovered: 0,
            restarts: []
        )
        let stamp = FileStamp(length: 7, seconds: 1, nanoseconds: 2)
        let entry = JournalEntry(member: 0, finished: .init(download, stamp: stamp))
        let replay = try JournalReplay(Self.bytes([entry]))
        let known = replay.known([Self.item("0")], retriesFailed: false) { _ in stamp }
        #expect(try known[0]?.get().proof == proof)
    }

    @Test func itemsAndOptionsAreRestored() throws {
        var item = Self.item("sub/name", headers: ["Accept": "text/plain"])
        item.expectedDigests = [try FileDigest(.md5, hex: "9e107d9d372bb6826bd81d3542a419d6")]
        var options = DownloadBatch.Options()
        options.maximumActiveDownloadsPerHost = 3
        options.maximumActiveDownloads = 5
        options.policy = .stopAtFirstFailure
        options.bytesPerSecond = 1000
        options.bytesPerSecondPerDownload = 100
        options.existingFiles = .keep
        options.unprovenBytes = .compare(overlap: 10)
        var policy = RetryPolicy(maximumRetries: 9, timeBudget: 8)
        policy.errorCodes = [.timedOut]
        policy.statusCodes = [500]
        policy.methods = ["GET"]
        policy.initialDelay = 0.25
        options.retryPolicy = policy
        let header = JournalHeader(
            items: [JournalItem(item, in: Self.folder)],
            options: JournalOptions(options)
        )
        let replay = try JournalReplay(JournalLine.bytes(header))
        #expect(replay.header.items.map { $0.item(in: Self.folder) } == [item])
        #expect(replay.header.options.options == options)
        #expect(replay.entries.isEmpty)
    }

    @Test func infiniteTimesAreRestored() throws {
        var options = DownloadBatch.Options()
        var policy = RetryPolicy(maximumRetries: 1, timeBudget: .infinity)
        (policy.maximumWait, policy.initialDelay) = (.infinity, 0.5)
        options.retryPolicy = policy
        let header = JournalHeader(items: [], options: JournalOptions(options))
        #expect(try JournalReplay(JournalLine.bytes(header)).header.options.options == options)
    }

    /// The same characters, composed in one and decomposed in the other: two folders.
    @Test func foldersAreComparedByTheirBytes() throws {
        let (composed, decomposed) = (
            URL(fileURLWithPath: "/tmp/\u{e9}"), URL(fileURLWithPath: "/tmp/e\u{301}")
        )
        let item = DownloadItem(url: Self.address, destination: decomposed.appendingPathComponent("file"))
        let back = try #require(JournalItem(item, in: composed).item(in: composed))
        #expect(Array(back.destination.path.utf8) == Array(item.destination.path.utf8))
        let other = DownloadItem(url: Self.address, destination: composed.appendingPathComponent("file"))
        try DownloadBatch.check([item, other], journal: nil)
        #expect(throws: DownloadBatchError.duplicateDestination(other.destination)) {
            try DownloadBatch.check([item, other, other], journal: nil)
        }
    }

    @Test func zeroRetriesAreRestored() {
        var options = DownloadBatch.Options()
        options.retryPolicy = nil
        #expect(JournalOptions(options).options == options)
    }

    @Test func secretsAreNotWrittenDown() throws {
        let item = Self.item(
            "a",
            headers: ["Authorization": "Bearer tea", "X-Api-Key": "pot", "Accept": "*/*"]
        )
        let record = JournalItem(item, in: Self.folder)
        let text = String(decoding: try JournalLine.bytes(record), as: UTF8.self)
        #expect(!text.contains("tea") && !text.contains("pot"))
        let back = try #require(record.item(in: Self.folder))
        #expect(back.headers == ["Accept": "*/*"])
        #expect(back.withheldHeaders == ["Authorization", "X-Api-Key"])
    }

    struct Move: Sendable {
        let destination: String
        let moved: String
    }

    @Test(arguments: [
        Move(destination: "/downloads/a", moved: "/elsewhere/a"),
        Move(destination: "/downloads/b/c", moved: "/elsewhere/b/c"),
        Move(destination: "/downloads/./b/../c", moved: "/elsewhere/c"),
        Move(destination: "/other/a", moved: "/other/a"),
        Move(destination: "/downloadsandmore/a", moved: "/downloadsandmore/a"),
    ])
    func filesBesideTheJournalMoveWithIt(_ move: Move) throws {
        let item = DownloadItem(url: Self.address, destination: URL(fileURLWithPath: move.destination))
        let record = JournalItem(item, in: Self.folder)
        let there = try #require(record.item(in: URL(fileURLWithPath: "/elsewhere", isDirectory: true)))
        #expect(there.destination.path == move.moved)
    }

    // MARK: - Damage

    @Test func aJournalThatWasCutOffAnywhereKeepsEveryWholeLine() throws {
        let entries = [
            Self.finished(0), JournalEntry(member: 1, failure: "no \n such \u{1F4BE}"), Self.finished(2),
            Self.finished(1, length: 9),
        ]
        let header = try JournalLine.bytes(Self.header(4)).count
        let bytes = try Self.bytes(entries)
        var ends = [header]
        for entry in entries { ends.append((ends.last ?? 0) + (try JournalLine.bytes(entry).count)) }
        for count in 0..<header {
            #expect(throws: JournalReplay.Unreadable.noHeader) { try JournalReplay(Array(bytes[..<count])) }
        }
        for count in header...bytes.count {
            let replay = try JournalReplay(Array(bytes[..<count]))
            let whole = ends.filter { $0 <= count }
            #expect(replay.length == whole.last)
            var expected: [Int: JournalEntry] = [:]
            for entry in entries.prefix(whole.count - 1) { expected[entry.member] = entry }
            #expect(replay.entries == expected)
        }
    }

    @Test func aLineThatIsDamagedAnywhereIsTheOnlyOneLost() throws {
        let bytes = try Self.bytes([Self.finished(0), Self.finished(1), Self.finished(2)])
        let before = try Self.bytes([Self.finished(0)]).count
        let after = try Self.bytes([Self.finished(0), Self.finished(1)]).count
        for offset in before..<after - 1 {
            for value in [bytes[offset] ^ 1, 0] {
                var damaged = bytes
                damaged[offset] = value
                let replay = try JournalReplay(damaged)
                #expect(replay.entries.keys.sorted() == [0, 2])
                #expect(replay.length == bytes.count)
            }
        }
    }

    @Test func zerosInThePlaceOfLinesAreNothing() throws {
        let bytes = try Self.bytes([Self.finished(0)])
        let replay = try JournalReplay(bytes + Array(repeating: 0, count: 100))
        #expect(replay.entries.keys.sorted() == [0])
        #expect(replay.length == bytes.count)
    }

    @Test func aFileOfANegativeLengthIsNothing() throws {
        #expect(try JournalReplay(Self.bytes([Self.finished(0, length: -1)])).entries.isEmpty)
        #expect(try JournalReplay(Self.bytes([Self.finished(0, length: .max)])).entries.count == 1)
    }

    @Test func theLastLineOfAMemberCounts() throws {
        let bytes = try Self.bytes([
            Self.finished(0), JournalEntry(member: 0, failure: "late"), Self.finished(7),
        ])
        let replay = try JournalReplay(bytes)
        #expect(replay.entries == [0: JournalEntry(member: 0, failure: "late")])
    }

    @Test func aJournalOfAnotherVersionIsNotRead() throws {
        var header = Self.header(1)
        let schema = JournalHeader.currentSchema + 1
        header.schema = schema
        let bytes = try JournalLine.bytes(header)
        #expect(throws: JournalReplay.Unreadable.otherSchema(schema)) { try JournalReplay(bytes) }
    }

    // MARK: - What is still true

    struct Known: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let entry: JournalEntry
        var stamp: FileStamp?
        var retriesFailed = true
        var isKnown = false
    }

    private static let right = FileStamp(length: 7, seconds: 1, nanoseconds: 2)

    @Test(arguments: [
        Known(testDescription: "the file is there", entry: finished(0), stamp: right, isKnown: true),
        Known(testDescription: "it is not", entry: finished(0)),
        Known(
            testDescription: "it has another length",
            entry: finished(0),
            stamp: FileStamp(length: 8, seconds: 1, nanoseconds: 2)
        ),
        Known(
            testDescription: "it was changed since",
            entry: finished(0),
            stamp: FileStamp(length: 7, seconds: 1, nanoseconds: 3)
        ),
        Known(testDescription: "it failed", entry: JournalEntry(member: 0, failure: "why"), stamp: right),
        Known(
            testDescription: "it failed, and that is that",
            entry: JournalEntry(member: 0, failure: "why"),
            retriesFailed: false,
            isKnown: true
        ),
    ])
    func onlyWhatIsStillThereIsNotFetchedAgain(_ one: Known) throws {
        let replay = try JournalReplay(Self.bytes([one.entry]))
        let items = (0..<4).map { Self.item("\($0)") }
        let known = replay.known(items, retriesFailed: one.retriesFailed) { _ in one.stamp }
        #expect((known[0] != nil) == one.isKnown)
        if one.isKnown, one.entry.finished != nil {
            let download = try #require(try known[0]?.get())
            #expect(download.file == items[0].destination)
            #expect(download.length == 7 && download.bytesRecovered == 7 && download.proof == .length)
        }
    }

    /// Another program has made a file of this length, and has given it the server's date, as wget does.
    @Test(arguments: [true, nil], [right, FileStamp(length: 7, seconds: 1, nanoseconds: 3), nil])
    func aFileThatHadARecordNeedsItStill(wasRecorded: Bool?, record: FileStamp?) throws {
        var entry = Self.finished(0)
        entry.finished?.isRecorded = wasRecorded
        let replay = try JournalReplay(Self.bytes([entry]))
        let known = replay.known(
            [Self.item("0")],
            retriesFailed: false,
            stamp: { _ in Self.right },
            record: { _ in record }
        )
        #expect((known[0] != nil) == (wasRecorded == nil || record == Self.right))
    }

    /// The manager has another security policy than the one of the process before.
    @Test(
        arguments: [
            (nil, true, false), ("none", false, false), (" one", false, true), ("a one", false, false),
        ] as [(String?, Bool, Bool)]
    )
    func aMemberCountsForTheVerificationOfItsServerOnly(
        text: String?,
        isKnown: Bool,
        isKnownToAClosure: Bool
    ) throws {
        var entry = Self.finished(0)
        entry.finished?.verification = text
        let replay = try JournalReplay(Self.bytes([entry]))
        var item = Self.item("0")
        item.url = try #require(URL(string: "https://h/a"))
        for asksAboutServers in [false, true] {
            let known = replay.known(
                [item],
                retriesFailed: false,
                stamp: { _ in Self.right },
                accepts: { verification, _ in
                    ServerVerification.standard.accepts(
                        finished: verification,
                        asksAboutServers: asksAboutServers
                    )
                }
            )
            #expect((known[0] != nil) == (isKnown || asksAboutServers && isKnownToAClosure))
        }
    }
}
