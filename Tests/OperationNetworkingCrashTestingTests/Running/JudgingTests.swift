import Foundation
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingCrashTesting

struct JudgingTests {
    private let directory: TemporaryDirectory
    private let file: FileVersions

    init() throws {
        directory = try TemporaryDirectory()
        let kind = try #require(ServerKind.all.first { $0.name == "changed-length" })
        var numbers = RandomNumbers(seed: 7, "judging")
        file = FileVersions(kind, sizes: 100_000...200_000, using: &numbers)
    }

    private func fault(of data: Data) throws -> String? {
        let location = directory.file()
        try data.write(to: location)
        return try file.fault(of: location)
    }

    @Test func everyWholeVersionIsRight() throws {
        #expect(file.bodies.count == 2)
        for body in file.bodies { #expect(try fault(of: body.data) == nil) }
    }

    @Test func aMixtureOfTwoVersionsIsWrong() throws {
        let (first, second) = (file.bodies[0], file.bodies[1])
        let mixture = first.data(in: 0..<50_000) + second.data(in: 50_000..<second.length)
        let fault = try #require(try fault(of: mixture))
        #expect(fault.hasPrefix("\(second.length) bytes, differs at byte 5000"))
    }

    @Test func aPartIsWrong() throws {
        let first = file.bodies[0]
        #expect(try fault(of: first.data(in: 0..<first.length - 1)) != nil)
        #expect(try fault(of: Data()) != nil)
        #expect(try fault(of: first.data + Data([0])) != nil)
    }

    @Test func aSeedMakesTheSameFilesAgain() {
        func bodies(_ seed: UInt64, _ name: String) -> [PatternBody] {
            var numbers = RandomNumbers(seed: seed, name)
            return FileVersions(.strongTag, sizes: 1...1_000_000, using: &numbers).bodies
        }
        #expect(bodies(1, "a") == bodies(1, "a"))
        #expect(bodies(1, "a") != bodies(2, "a"))
        #expect(bodies(1, "a") != bodies(1, "b"))
    }

    @Test func changedFilesGetAnotherValidatorWhereTheyShould() throws {
        for kind in ServerKind.all where kind.change != nil {
            var numbers = RandomNumbers(seed: 7, "validators")
            var file = FileVersions(kind, sizes: 1000...1000, using: &numbers)
            let before = file.representation
            file.change()
            let after = file.representation
            let isDistinguished =
                before.entityTag != after.entityTag || before.lastModified != after.lastModified
            #expect(isDistinguished == [.strongTag, .date].contains(kind.validator), "\(kind.name)")
        }
    }
}
