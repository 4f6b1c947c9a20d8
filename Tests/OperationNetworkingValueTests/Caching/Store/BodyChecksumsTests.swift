import Foundation
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The checksums of bodies in files, and what the file of an index turns out to be.
struct BodyChecksumsTests {
    private static let block = Int(BodyChecksums.blockLength)

    private static func checksums(_ bytes: Data, pieces: Int) -> BodyChecksums {
        var checksums = BodyChecksums()
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            checksums.append(Data(bytes[start..<min(start + pieces, bytes.count)]).span)
        }
        return checksums
    }

    @Test(arguments: [0, 1, block - 1, block, block + 1, 3 * block, 3 * block + 7])
    func theyDoNotDependOnThePiecesAndComeBackFromTheIndex(length: Int) throws {
        let bytes = sampleBytes(length)
        let whole = Self.checksums(bytes, pieces: max(length, 1))
        #expect(whole.count == Int64(length))
        for pieces in [997, Self.block, 100_000] { #expect(Self.checksums(bytes, pieces: pieces) == whole) }
        let octets = [UInt8](whole.encoded)
        #expect(octets.count == (length + Self.block - 1) / Self.block * 4)
        #expect(BodyChecksums(encoded: octets, count: Int64(length)) == whole)
        #expect(BodyChecksums(encoded: octets + [0, 0, 0, 0], count: Int64(length)) == nil)
        #expect(BodyChecksums(encoded: octets, count: Int64(length + Self.block)) == nil)
        #expect(BodyChecksums(encoded: octets, count: -1) == nil)
        #expect(BodyChecksums(encoded: octets, count: .max) == nil)
    }

    @Test func theLowOctetsComeFirst() {
        let octets: [UInt8] = [0xfc, 0x01, 0x80, 0xff, 1, 2, 3, 4]
        #expect(BodyChecksums(encoded: octets, count: BodyChecksums.blockLength + 1)?.encoded == Data(octets))
        var one = BodyChecksums()
        one.append(Data("123456789".utf8).span)
        // CRC-32C of these is e3069283.
        #expect(one.encoded == Data([0x83, 0x92, 0x06, 0xe3]))
        #expect(BodyChecksums(encoded: [0x83, 0x92, 0x06, 0xe3], count: 9) == one)
    }

    /// Of a row nothing but their number is looked at before its file is read.
    @Test func theirNumberIsThatOfTheBlocks() {
        let length = BodyChecksums.blockLength
        for (octets, count, isRight) in [
            (0, 0, true), (4, 0, false), (4, 1, true), (4, length, true), (4, length + 1, false),
            (8, length + 1, true), (7, length + 1, false), (0, -1, false), (4, .max, false),
        ] as [(Int, Int64, Bool)] {
            #expect(BodyChecksums.isLength(octets, forBodyOf: count) == isRight, "\(octets), \(count)")
        }
    }

    @Test func whatIsReadIsWhatWasWritten() throws {
        let directory = try TemporaryDirectory()
        let folder = try CacheFolder(path: directory.url.path + "/cache")
        let file = try folder.create("body")
        let length = 2 * Self.block + 100
        let bytes = sampleBytes(length)
        try file.write(bytes.span, at: 0)
        let checksums = Self.checksums(bytes, pieces: length)
        let end = length - 1..<length
        for range in [0..<0, 0..<1, 5..<Self.block, Self.block - 1..<Self.block + 1, 0..<length, end] {
            let asked = Int64(range.lowerBound)..<Int64(range.upperBound)
            #expect(try checksums.read(asked, of: file) == bytes[range])
        }
        #expect(throws: BodyError.missing) { try checksums.read(0..<Int64(length + 1), of: file) }
        // One bit of the second block.
        try file.write([bytes[Self.block + 9] ^ 4].span, at: Int64(Self.block + 9))
        #expect(try checksums.read(0..<Int64(Self.block), of: file) == bytes.prefix(Self.block))
        #expect(try checksums.read(Int64(2 * Self.block)..<Int64(length), of: file).count == 100)
        for range in [0..<Int64(length), Int64(Self.block)..<Int64(Self.block + 1)] {
            #expect(throws: BodyError.damaged) { try checksums.read(range, of: file) }
        }
        try file.truncate(to: Int64(length - 1))
        let rest = Int64(2 * Self.block)..<Int64(length - 1)
        #expect(throws: BodyError.missing) { try checksums.read(rest, of: file) }
    }
}

/// The table of ``IndexFinding``.
struct IndexFindingTests {
    private static let ours: Set = ["a", "b"]
    private static let rows: [(Int64, Int64, Set<String>, IndexFinding)] = [
        (0, 0, [], .empty),
        (mark, version, ours, .current),
        (mark, version, ours.union(["c"]), .current),
        // The mark is damaged.
        (0, version, ours, .current), (7, version, ours, .current),
        // The first version had none.
        (0, 1, ["a", "x"], .earlier), (mark, 1, ["x"], .earlier), (mark, 0, ours, .earlier),
        (mark, version + 1, ours, .damaged),
        (mark, version + 1, ["a", "x"], .later), (mark, version + 1, ours.union(["c"]), .later),
        (0, version + 1, ["a", "x"], .later),
        (mark, version, ["a"], .damaged), (mark, version, [], .damaged), (0, version, ["a"], .damaged),
        // A bit of the mark.
        (mark ^ 4, version, ["a"], .damaged), (mark ^ 1 << 31, 1, ["x"], .earlier),
        // Another's mark, whatever the texts have in common.
        (7, 1, ["a", "x"], .foreign), (7, version, ["a"], .foreign), (7, version + 1, ["a", "x"], .foreign),
        (7, 1, ours, .earlier), (7, version + 1, ours, .damaged),
        (0, 0, ["x"], .foreign), (0, version, ["x"], .foreign), (7, 0, [], .foreign), (0, 5, [], .foreign),
    ]
    private static let (mark, version) = (IndexFinding.application, IndexFinding.version)

    @Test(arguments: rows.indices) func theTable(row: Int) {
        let (application, version, schema, finding) = Self.rows[row]
        let found = IndexFinding(application: application, version: version, schema: schema, ours: Self.ours)
        #expect(found == finding)
    }

    /// The mark, the version, and the finding.
    private static let unreadable: [(Int64, Int64, IndexFinding?)] = [
        (mark, version + 1, .later), (mark, version, .damaged), (mark, 0, .damaged),
        (mark ^ 4, version, .damaged),
        (7, version, .foreign), (7, 0, .foreign), (-1, version + 1, .foreign),
        (0, 0, nil), (0, version, nil), (0, version + 1, nil),
    ]

    @Test(arguments: unreadable.indices) func theTableOfTextsThatCannotBeRead(row: Int) {
        let (application, version, finding) = Self.unreadable[row]
        #expect(IndexFinding(unreadableWith: application, version: version) == finding)
    }

    @Test func onlyWhatIsOursAndOfNoUseIsReplaced() {
        #expect(IndexFinding.allCases.filter(\.mayBeReplaced) == [.earlier, .damaged])
    }
}
