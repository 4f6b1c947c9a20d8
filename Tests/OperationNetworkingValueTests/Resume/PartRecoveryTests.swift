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
        var size: Int64
        var part = Sample.part
        var fields: HeaderFields = ["ETag": "\"v1\""]
        var ends: [Int64] = [10, 20]
        var intact = 2
        var session: String? = "boot/2"
        var isForeign: Bool?
        var notedPart = Sample.part
        var knowsWhole = false
        var isSameSender = true
        var verification: ServerVerification?
        var trustedServers: Set<String> = []
        var asksAboutServers = false
        var takesOtherLocations = false
        var isOfSeveralLocations: Bool?
        var isAtRest: Bool?
        var replacesFile = false
        var total: Int64? = 100
        var finding: (@Sendable (DownloadCheckpoint) -> PartRecovery.Facts.Finding) = { .checkpoint($0) }
        let recovery: PartRecovery

        init(
            _ name: String,
            size: Int64,
            _ recovery: PartRecovery,
            with change: @Sendable (inout Row) -> Void = { _ in }
        ) {
            testDescription = name
            self.size = size
            self.recovery = recovery
            change(&self)
        }

        func facts() throws -> PartRecovery.Facts {
            var checkpoint = try Sample.checkpoint(.sample, fields: fields, total: total, blocks: ends)
            checkpoint.isForeign = isForeign
            checkpoint.part = notedPart
            checkpoint.isAtRest = isAtRest
            checkpoint.isOfSeveralLocations = isOfSeveralLocations
            if !trustedServers.isEmpty { checkpoint.note(.standard, trusting: trustedServers) }
            let other = Credential(user: "other", password: "")
            var question = DownloadRequest(
                request,
                as: isSameSender ? nil : RequestIdentity(request, credential: other),
                under: trustedServers.isEmpty ? verification : .standard,
                asksAboutServers
            )
            question.takesOtherLocations = takesOtherLocations
            question.knowsWhole = knowsWhole
            return PartRecovery.Facts(
                downloadRequest: question,
                finding: finding(checkpoint),
                part: part,
                size: size,
                intactBlocks: intact,
                session: session,
                replacesFile: replacesFile
            )
        }
    }

    private static let otherFile = LastingFileIdentity(inode: 3, birth: Sample.part.birth)
    private static let unborn = LastingFileIdentity(inode: 2, birth: nil)
    private static let none: @Sendable (inout Row) -> Void = { $0.finding = { _ in .none } }
    private static let unreadable: @Sendable (inout Row) -> Void = { $0.finding = { _ in .unreadable } }
    private static let otherSender: @Sendable (inout Row) -> Void = { $0.isSameSender = false }
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
        Row("P1 nothing, or an empty file", size: 0, .begin, with: none),
        Row("P2 bytes without a checkpoint", size: 1, .useOtherName(), with: none),
        Row(
            "P2 bytes with an unreadable one",
            size: 20,
            .useOtherName(.checkpointUnreadable),
            with: unreadable
        ),
        Row("P2 one that no download wrote", size: 0, .useOtherName(.checkpointUnproven)) {
            $0.finding = { _ in .notOurs }
        },
        Row("P2 one that others may have written", size: 20, .useOtherName(.checkpointUnproven)) {
            $0.finding = { _ in .notOurs }
        },
        Row("P2 one of another version", size: 0, .useOtherName(.checkpointUnreadable)) {
            $0.finding = { _ in .otherVersion }
        },
        Row("P2 an empty file with an unreadable one", size: 0, .begin, with: unreadable),
        Row("P2 one that names another file", size: 20, .useOtherName(.checkpointUnproven)) {
            $0.part = otherFile
        },
        Row("P2 the same, without bytes", size: 0, .begin) {
            $0.part = otherFile
            uncommitted(&$0)
        },
        Row("P2 a later file with the same inode", size: 20, .useOtherName(.checkpointUnproven)) {
            $0.part = LastingFileIdentity(inode: 2, birth: FileTime(seconds: 1, nanoseconds: 3))
        },
        Row("P2 a file system that reports no time of birth", size: 25, .startOver(.checkpointUnproven)) {
            ($0.part, $0.notedPart) = (unborn, unborn)
        },
        Row("P2 the same, another file", size: 25, .useOtherName(.checkpointUnproven)) {
            ($0.part, $0.notedPart) = (unborn, LastingFileIdentity(inode: 3, birth: nil))
        },
        Row("P2 one that no longer reports it", size: 25, .useOtherName(.checkpointUnproven)) {
            $0.part = unborn
        },
        Row("P3 a checkpoint without a file", size: 0, .startOver(.dataLost)) {
            $0.part = otherFile
            $0.intact = 0
        },
        Row("P3 one that claims nothing", size: 0, .begin, with: uncommitted),
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
        Row("P16 another field that Vary names, strong tag", size: 20, .keep(20, isOfOtherRequest: true)) {
            $0.request.setValue("b", forHTTPHeaderField: "User-Agent")
            $0.fields = ["ETag": "\"v1\"", "Vary": "User-Agent"]
        },
        Row("P16 the same, strong date", size: 20, .startOver(.requestChanged)) {
            $0.request.setValue("b", forHTTPHeaderField: "User-Agent")
            $0.fields = strongDate
            $0.fields["Vary"] = "User-Agent"
        },
        Row("P16 the same, no validator", size: 20, .startOver(.requestChanged)) {
            $0.request.setValue("b", forHTTPHeaderField: "User-Agent")
            $0.fields = ["Vary": "User-Agent"]
        },
        Row(
            "P17 another address, strong tag",
            size: 20,
            .keep(20, isOfOtherRequest: true),
            with: otherAddress
        ),
        Row("P17 another server", size: 20, .startOver(.requestChanged), with: otherServer),
        Row("P17 another server, asked for", size: 20, .keep(20, isOfOtherRequest: true)) {
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
        Row("P17 bytes of several servers, asked for", size: 20, .keep(20, isOfOtherRequest: true)) {
            $0.isOfSeveralLocations = true
            $0.takesOtherLocations = true
        },
        Row("P17 another user, strong date", size: 20, .startOver(.requestChanged)) {
            otherSender(&$0)
            $0.fields = strongDate
        },
        Row("P17 another query, strong date", size: 20, .startOver(.requestChanged)) {
            otherAddress(&$0)
            $0.fields = strongDate
        },
        Row("P17 a field with another token", size: 20, .keep(20, isOfOtherRequest: true)) {
            otherSender(&$0)
            $0.request.setValue("Bearer 2", forHTTPHeaderField: "Authorization")
        },
        Row("P7, P17 all bytes, another address", size: 100, .keep(99, isOfOtherRequest: true)) { row in
            otherAddress(&row)
            row.ends = [100]
            row.intact = 1
        },
        Row(
            "P17 another user, strong tag",
            size: 20,
            .keep(20, isOfOtherRequest: true),
            with: otherSender
        ),
        Row("P7, P17 all bytes, another user", size: 100, .keep(99, isOfOtherRequest: true)) { row in
            otherSender(&row)
            row.ends = [100]
            row.intact = 1
        },
        Row("P17 another user, no validator", size: 20, .startOver(.requestChanged)) {
            otherSender(&$0)
            $0.fields = [:]
        },
        Row("P16 a range of the caller's", size: 20, .startOver(.requestChanged)) {
            $0.request.setValue("bytes=1-", forHTTPHeaderField: "Range")
        },
        Row("P17 another address, weak tag", size: 20, .startOver(.requestChanged)) {
            otherAddress(&$0)
            $0.fields = ["ETag": "W/\"v1\""]
        },
        Row("P20 another program's bytes, and a digest", size: 20, .keep(20)) {
            $0.isForeign = true
            $0.knowsWhole = true
        },
        Row("P20 another program's bytes, and none", size: 20, .startOver(.foreignCopy)) {
            $0.isForeign = true
        },
        Row("P21 a server that was verified in another way", size: 20, .startOver(.verificationChanged)) {
            $0.verification = .standard
        },
        Row("P21 the same, all bytes", size: 100, .startOver(.verificationChanged)) { row in
            row.verification = .standard
            row.ends = [100]
            row.intact = 1
        },
        Row("P21 the same, without a byte", size: 0, .begin) {
            $0.verification = .standard
            uncommitted(&$0)
        },
        Row("P21 a server that a closure trusted", size: 20, .keep(20)) {
            $0.trustedServers = ["one"]
            $0.asksAboutServers = true
        },
        Row("P21 the same, and no closure", size: 20, .startOver(.verificationChanged)) {
            $0.trustedServers = ["one"]
        },
        Row("P7, P21 all bytes of one", size: 100, .keep(99)) { row in
            row.trustedServers = ["one"]
            row.asksAboutServers = true
            row.ends = [100]
            row.intact = 1
        },
        Row("P12 the same address, no validator", size: 20, .keep(20)) { $0.fields = [:] },
    ])
    func keepsTrustedBytes(row: Row) throws {
        #expect(PartRecovery(try row.facts()) == row.recovery)
    }
}
