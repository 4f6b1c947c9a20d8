import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Every row is what one process left of a hundred bytes, of which twenty are committed in two blocks, and
/// what the next one makes of it.
@Suite struct PartRecoveryTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var request = URLRequest.sample
        var size: Int64?
        var identity = FileIdentity(device: 1, inode: 2)
        var fields: HeaderFields = ["ETag": "\"v1\""]
        var ends: [Int64] = [10, 20]
        var intact = 2
        var session: String? = "boot/2"
        var copy: DownloadCheckpoint.Copy?
        var source: SourceFile?
        var isSameAsker = true
        var isVerified = true
        var dependsOnTrust = false
        var isSameVariant = true
        var takesOtherLocations = false
        var isOfSeveralLocations: Bool?
        var isAtRest: Bool?
        var replacesFile = false
        var total: Int64? = 100
        var finding: (@Sendable (DownloadCheckpoint) -> PartRecovery.Facts.Finding) = { .checkpoint($0) }
        let recovery: PartRecovery

        init(
            _ name: String,
            size: Int64?,
            _ recovery: PartRecovery,
            with change: @Sendable (inout Row) -> Void = { _ in }
        ) {
            testDescription = name
            self.size = size
            self.recovery = recovery
            change(&self)
        }

        var facts: PartRecovery.Facts {
            var checkpoint = Sample.checkpoint(.sample, fields: fields, total: total, blocks: ends)
            checkpoint.copy = copy
            checkpoint.isAtRest = isAtRest
            checkpoint.isOfSeveralLocations = isOfSeveralLocations
            return PartRecovery.Facts(
                request: RequestRecord(request),
                isSameAsker: isSameAsker,
                isVerified: isVerified,
                dependsOnTrust: dependsOnTrust,
                isSameVariant: isSameVariant,
                takesOtherLocations: takesOtherLocations,
                finding: finding(checkpoint),
                part: size.map {
                    FileStatus(
                        identity: identity,
                        size: $0,
                        allocated: $0,
                        links: 1,
                        owner: 1000,
                        group: 1000,
                        mode: 0o600
                    )
                },
                intactBlocks: intact,
                session: session,
                source: source,
                replacesFile: replacesFile
            )
        }
    }

    /// A file of another program, of which the first fifteen bytes are a copy.
    private static func source(
        device: UInt64 = 1,
        inode: UInt64 = 9,
        nanoseconds: Int64 = 0,
        length: Int64 = 15
    ) -> SourceFile {
        SourceFile(
            identity: FileIdentity(device: device, inode: inode),
            stamp: FileStamp(length: length, seconds: 1000, nanoseconds: nanoseconds)
        )
    }

    private static func copied(
        _ isComplete: Bool = true,
        length: Int64 = 15,
        device: UInt64 = 1,
        isOnDeviceOfPart: Bool? = nil,
        continuing source: SourceFile? = nil
    ) -> @Sendable (inout Row) -> Void {
        { row in
            row.copy = DownloadCheckpoint.Copy(
                source: Self.source(device: device, length: length),
                isComplete: isComplete,
                isOnDeviceOfPart: isOnDeviceOfPart
            )
            row.source = source
        }
    }

    private static let none: @Sendable (inout Row) -> Void = { $0.finding = { _ in .none } }
    private static let unreadable: @Sendable (inout Row) -> Void = { $0.finding = { _ in .unreadable } }
    private static let unmarked: @Sendable (inout Row) -> Void = { $0.finding = { .unmarked($0) } }
    private static let otherAsker: @Sendable (inout Row) -> Void = { $0.isSameAsker = false }
    private static let strongDate: HeaderFields = [
        "Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT", "Date": "Tue, 14 Nov 2023 22:13:21 GMT",
    ]
    private static let sameSession: @Sendable (inout Row) -> Void = { $0.session = "boot/1" }
    private static let uncommitted: @Sendable (inout Row) -> Void = {
        $0.ends = []
        $0.intact = 0
    }
    private static let otherAddress: @Sendable (inout Row) -> Void = {
        $0.request.url = $0.request.url.flatMap { URL(string: $0.absoluteString + "?renewed") }
    }
    private static let otherServer: @Sendable (inout Row) -> Void = {
        $0.request.url = URL(string: "http://mirror.example.com/file")
    }

    @Test(arguments: [
        Row("P1 nothing", size: nil, .begin, with: none),
        Row("P1 an empty file without a checkpoint", size: 0, .begin, with: none),
        Row("P2 bytes without a checkpoint", size: 1, .useOtherName, with: none),
        Row("P2 bytes with an unreadable one", size: 20, .startOver(.checkpointUnreadable), with: unreadable),
        Row("P2 an empty file with an unreadable one", size: 0, .begin, with: unreadable),
        Row("P2 one that no mark proves", size: 20, .startOver(.checkpointUnproven), with: unmarked),
        Row("P2 the same, without bytes", size: 0, .begin) {
            unmarked(&$0)
            uncommitted(&$0)
        },
        Row("P2 the same, of this session and this file", size: 25, .keep(25)) {
            unmarked(&$0)
            sameSession(&$0)
        },
        Row("P2 the same, of this session and another file", size: 25, .startOver(.checkpointUnproven)) {
            unmarked(&$0)
            sameSession(&$0)
            $0.identity = FileIdentity(device: 1, inode: 3)
        },
        Row("P2 the same, in no known session", size: 25, .startOver(.checkpointUnproven)) {
            unmarked(&$0)
            $0.session = nil
        },
        Row("P3 a checkpoint without a file", size: nil, .startOver(.dataLost)) { $0.intact = 0 },
        Row("P3 one that claims nothing", size: nil, .begin, with: uncommitted),
        Row("P4 more than committed", size: 25, .keep(20)),
        Row("P4 just as much", size: 20, .keep(20)),
        Row("P4 more, and nothing committed", size: 25, .begin, with: uncommitted),
        Row("P4 in the same session", size: 25, .keep(25), with: sameSession),
        Row("P4 in the same session, nothing committed", size: 25, .keep(25)) {
            uncommitted(&$0)
            sameSession(&$0)
        },
        Row("P4 in the same session, at rest: another program's", size: 25, .keep(20)) {
            sameSession(&$0)
            $0.isAtRest = true
        },
        Row("P4 in the same session, another file", size: 25, .keep(20)) {
            sameSession(&$0)
            $0.identity = FileIdentity(device: 1, inode: 3)
        },
        Row("P4 in no known session", size: 25, .keep(20)) { $0.session = nil },
        Row("P4 in the same session, more than all", size: 120, .keep(100), with: sameSession),
        Row("P5 shorter than committed", size: 15, .keep(10)) { $0.intact = 1 },
        Row("P5 shorter than committed, in the same session", size: 15, .keep(10)) {
            $0.intact = 1
            sameSession(&$0)
        },
        Row("P5 shorter than every block", size: 9, .startOver(.dataLost)) { $0.intact = 0 },
        Row("P5 empty", size: 0, .startOver(.dataLost)) { $0.intact = 0 },
        Row("P6 the last block differs", size: 25, .keep(10)) { $0.intact = 1 },
        Row("P6 the last block differs, in the same session", size: 25, .keep(10)) {
            $0.intact = 1
            sameSession(&$0)
        },
        Row("P6 the first block differs", size: 25, .startOver(.dataLost)) { $0.intact = 0 },
        Row("P7 all bytes", size: 100, .keep(100)) { row in
            row.ends = [100]
            row.intact = 1
        },
        Row("P7 all bytes, and a file to replace", size: 100, .keep(99)) { row in
            row.replacesFile = true
            row.ends = [100]
            row.intact = 1
        },
        Row("P7 the only byte, and a file to replace", size: 1, .begin) { row in
            row.replacesFile = true
            (row.total, row.ends, row.intact) = (1, [1], 1)
        },
        Row("a file to replace", size: 20, .keep(20)) { $0.replacesFile = true },
        Row("P13 a content coding", size: 20, .startOver(.contentCoded)) {
            $0.fields = ["ETag": "\"v1\"", "Content-Encoding": "gzip"]
        },
        Row("P15 another method", size: 20, .startOver(.requestChanged)) { $0.request.httpMethod = "POST" },
        Row("P15 a body", size: 20, .startOver(.requestChanged)) { $0.request.httpBody = Data("a".utf8) },
        Row("P16 another selecting field", size: 20, .startOver(.requestChanged)) {
            $0.request.setValue("de", forHTTPHeaderField: "Accept-Language")
        },
        Row("P16 another site", size: 20, .startOver(.requestChanged)) {
            $0.request.setValue("other.example", forHTTPHeaderField: "Host")
        },
        Row("P16 another field that Vary names, strong tag", size: 20, .keep(20)) {
            $0.isSameVariant = false
        },
        Row("P16 the same, strong date", size: 20, .startOver(.requestChanged)) {
            $0.isSameVariant = false
            $0.fields = strongDate
        },
        Row("P16 the same, no validator", size: 20, .startOver(.requestChanged)) {
            $0.isSameVariant = false
            $0.fields = [:]
        },
        Row(
            "P17 another address, strong tag",
            size: 20,
            .keep(20, isOfOtherQuestion: true),
            with: otherAddress
        ),
        Row("P17 another server", size: 20, .startOver(.requestChanged), with: otherServer),
        Row("P17 another server, asked for", size: 20, .keep(20, isOfOtherQuestion: true)) {
            otherServer(&$0)
            $0.takesOtherLocations = true
        },
        Row("P17 another server, asked for, no validator", size: 20, .startOver(.requestChanged)) {
            otherServer(&$0)
            $0.takesOtherLocations = true
            $0.fields = [:]
        },
        Row("P17 bytes of several servers", size: 20, .startOver(.requestChanged)) {
            $0.isOfSeveralLocations = true
        },
        Row("P17 bytes of several servers, asked for", size: 20, .keep(20, isOfOtherQuestion: true)) {
            $0.isOfSeveralLocations = true
            $0.takesOtherLocations = true
        },
        Row("P17 another user, strong date", size: 20, .startOver(.requestChanged)) {
            otherAsker(&$0)
            $0.fields = strongDate
        },
        Row("P17 another query, strong date", size: 20, .startOver(.requestChanged)) {
            otherAddress(&$0)
            $0.fields = strongDate
        },
        Row("P17 a field with another token", size: 20, .keep(20, isOfOtherQuestion: true)) {
            otherAsker(&$0)
            $0.request.setValue("Bearer 2", forHTTPHeaderField: "Authorization")
        },
        Row("P7, P17 all bytes, another address", size: 100, .keep(99, isOfOtherQuestion: true)) { row in
            otherAddress(&row)
            row.ends = [100]
            row.intact = 1
        },
        Row("P17 another user, strong tag", size: 20, .keep(20, isOfOtherQuestion: true), with: otherAsker),
        Row("P7, P17 all bytes, another user", size: 100, .keep(99, isOfOtherQuestion: true)) { row in
            otherAsker(&row)
            row.ends = [100]
            row.intact = 1
        },
        Row("P17 another user, no validator", size: 20, .startOver(.requestChanged)) {
            otherAsker(&$0)
            $0.fields = [:]
        },
        Row("P16 a range of the caller's", size: 20, .startOver(.requestChanged)) {
            $0.request.setValue("bytes=1-", forHTTPHeaderField: "Range")
        },
        Row("P17 another address, weak tag", size: 20, .startOver(.requestChanged)) {
            otherAddress(&$0)
            $0.fields = ["ETag": "W/\"v1\""]
        },
        Row("P20 a copy, and the file is continued", size: 20, .keep(20), with: copied(continuing: source())),
        Row("P20 a copy, and the file is not continued", size: 20, .startOver(.foreignCopy), with: copied()),
        Row(
            "P20 a copy, and the file was changed",
            size: 20,
            .startOver(.foreignCopy),
            with: copied(continuing: source(nanoseconds: 1))
        ),
        Row(
            "P20 a copy, and another file has the name",
            size: 20,
            .startOver(.foreignCopy),
            with: copied(continuing: source(inode: 8))
        ),
        Row("P20 a copy, after another mount", size: 20, .keep(20)) { row in
            copied(continuing: source(device: 5))(&row)
            row.identity = FileIdentity(device: 5, inode: 2)
        },
        Row("P20 the same, noted", size: 20, .keep(20)) { row in
            copied(device: 7, isOnDeviceOfPart: true, continuing: source(device: 5))(&row)
            row.identity = FileIdentity(device: 5, inode: 2)
        },
        Row(
            "P20 a copy of a file on another device",
            size: 20,
            .keep(20),
            with: copied(device: 7, isOnDeviceOfPart: false, continuing: source(device: 8))
        ),
        Row(
            "P20 a copy, and a file with its numbers on another device",
            size: 20,
            .startOver(.foreignCopy),
            with: copied(continuing: source(device: 5))
        ),
        Row(
            "P20 a copy of a file on another device, and one with its numbers here",
            size: 20,
            .startOver(.foreignCopy),
            with: copied(device: 7, continuing: source())
        ),
        Row("P20 a copy that was cut short", size: 20, .begin, with: copied(false, continuing: source())),
        Row("P20 one that was cut short, and is not continued", size: 20, .begin, with: copied(false)),
        Row(
            "P20 a copy that has lost bytes",
            size: 20,
            .startOver(.dataLost),
            with: copied(length: 21, continuing: source(length: 21))
        ),
        Row("P20 bytes of the server, and a file is continued", size: 20, .keep(20)) { $0.source = source() },
        Row("P21 a server that was verified in another way", size: 20, .startOver(.verificationChanged)) {
            $0.isVerified = false
        },
        Row("P21 the same, all bytes", size: 100, .startOver(.verificationChanged)) { row in
            row.isVerified = false
            row.ends = [100]
            row.intact = 1
        },
        Row("P21 the same, without a byte", size: 0, .begin) {
            $0.isVerified = false
            uncommitted(&$0)
        },
        Row("P21 a server that a closure trusted", size: 20, .keep(20)) { $0.dependsOnTrust = true },
        Row("P7, P21 all bytes of one", size: 100, .keep(99)) { row in
            row.dependsOnTrust = true
            row.ends = [100]
            row.intact = 1
        },
        Row("P12 the same address, no validator", size: 20, .keep(20)) { $0.fields = [:] },
    ])
    func keepsWhatCanBeTrusted(row: Row) {
        #expect(PartRecovery(row.facts) == row.recovery)
    }
}
