import Testing

@testable import OperationNetworking

@Suite struct BodyEndTests {
    typealias Facts = BodyEnd.Facts

    private static let uses: [BodyUse] = [
        .deliver, .skip(1, then: []), .compare(1), .check([1]), .keepAside(1), .drop, .discard(1),
    ]

    @Test(arguments: uses)
    func aServerThatIsRefusedIsAskedAbout(use: BodyUse) {
        let facts = Facts(failure: .untrusted, use: use, bodyExplains: true, wasHeldForGood: true)
        #expect(BodyEnd(facts) == .askAboutServer)
    }

    private static let rows: [(Facts, BodyEnd)] = [
        // The rest of an error's body was not wanted, or did not come.
        (Facts(failure: .refusal, use: .keepAside(0)), .finish),
        (Facts(failure: .other, use: .keepAside(0), bodyExplains: true), .finish),
        (Facts(failure: .other, use: .keepAside(0)), .retry),
        // An error within the body.
        (Facts(failure: .other), .retry),
        (Facts(failure: .refusal), .retry),
        (Facts(failure: .other, bodyExplains: true), .retry),
        (Facts(failure: .other, use: .drop), .retry),
        (Facts(failure: .other, use: .skip(1, then: [])), .retry),
        (Facts(failure: .other, use: .check([1])), .retry),
        (Facts(failure: .other, use: .compare(1)), .retry),
        (Facts(failure: .other, use: .discard(1)), .retry),
        (Facts(failure: .other, wasHeldForGood: true), .changed),
        (Facts(failure: .other, use: .keepAside(0), wasHeldForGood: true), .changed),
        (Facts(failure: .other, use: .keepAside(0), bodyExplains: true, wasHeldForGood: true), .finish),
        // A body that came whole.
        (Facts(), .finish),
        (Facts(use: .compare(1)), .finish),
        (Facts(use: .keepAside(0)), .finish),
        (Facts(use: .drop), .finish),
        (Facts(use: .discard(1)), .finish),
        (Facts(use: .skip(1, then: [])), .changed),
        (Facts(use: .check([1])), .differs),
        (Facts(isShort: true), .askForMore),
        (Facts(isShort: true, hasWrongLength: true), .askForMore),
        (Facts(hasWrongLength: true), .wrongLength),
        (Facts(wasHeldForGood: true), .finish),
    ]

    @Test(arguments: rows)
    func eachEndHasItsConsequence(facts: Facts, expected: BodyEnd) {
        #expect(BodyEnd(facts) == expected)
    }
}
