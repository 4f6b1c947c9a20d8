import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct PartialNameTests {
    @Test func standsBesideTheFile() {
        let name = PartialName(of: "a.iso")
        #expect(name.candidate(0).part == "a.iso.part")
        #expect(name.candidate(0).checkpoint == "a.iso.part.resume")
        #expect(name.candidate(9).part == "a.iso.9.part")
    }

    @Test(arguments: [
        ("log", "log.part", true), ("log", "log.1.part", true), ("log", "log.9.part", true),
        ("log.1", "log.1.part", true), ("log.1", "log.1.1.part", true), ("log.1", "log.part", false),
        ("log", "log.01.part", false), ("log", "log.0.part", false), ("log", "log.10.part", false),
        ("log", "log.1.2.part", false), ("log", "logx.part", false), ("log", "log1.part", false),
        ("log", "log.part.resume", false), ("log", "lo.part", false), ("log", ".part", false),
    ])
    func knowsWhichPartsMayBeItsOwn(name: String, part: String, isOne: Bool) {
        #expect(PartialName(of: name).mayBe(part) == isOne)
    }

    @Test(arguments: ["a", "\u{E9}", "\u{1F600}"])
    func longNamesLeaveRoomForTheLongestEnding(letter: String) {
        let long = String(repeating: letter, count: 255 / letter.utf8.count)
        let candidate = PartialName(of: long).candidate(9)
        #expect(candidate.temporary.utf8.count <= 255)
        #expect(candidate.part.hasPrefix(letter))
        #expect(PartialName(of: long) == PartialName(of: long))
        #expect(PartialName(of: long) != PartialName(of: String(long.dropLast()) + "b"))
    }
}
