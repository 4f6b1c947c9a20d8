import Testing

@testable import OperationNetworking

@Suite struct CookieWorkTests {
    // MARK: - Reading

    private static let readings: [(CookieReading, Bool, Int?)] = [
        (.notYet, false, nil),
        (.done(nil), true, nil),
        (.done([]), true, 0),
        (.done([Cookie(name: "a", value: "1", domain: "example.org")].compactMap(\.self)), true, 1),
    ]

    @Test(arguments: readings)
    func cookiesAreTakenOnce(reading: CookieReading, isRead: Bool, count: Int?) {
        var work = CookieWork(reading)
        #expect(work.areRead == isRead)
        #expect(work.take()?.count == count)
        #expect(!work.areRead, "the next transfer reads them again")
        #expect(work.take() == nil)
    }

    @Test(arguments: readings)
    func forgottenCookiesAreReadAgain(reading: CookieReading, isRead: Bool, count: Int?) {
        var work = CookieWork(reading)
        work.forget()
        #expect(!work.areRead)
        #expect(work.take() == nil)
    }

    // MARK: - Storing

    enum Step: Sendable { case willStore, didStore, holdEnd }

    /// Steps, and for each `didStore` among them whether the end waited for it.
    private static let scripts: [([Step], [Bool])] = [
        ([.willStore, .didStore], [false]),
        ([.willStore, .holdEnd, .didStore], [true]),
        ([.willStore, .willStore, .holdEnd, .didStore, .didStore], [false, true]),
        ([.willStore, .holdEnd, .willStore, .didStore, .didStore], [false, true]),
        ([.willStore, .didStore, .willStore, .holdEnd, .didStore], [false, true]),
        ([.willStore, .holdEnd, .didStore, .willStore, .didStore], [true, false]),
        ([.holdEnd, .willStore, .didStore], [true]),
    ]

    @Test(arguments: scripts)
    func theEndWaitsForTheLastChangeAndIsToldOnce(steps: [Step], expected: [Bool]) {
        var work = CookieWork(.notYet)
        var storing = 0
        var released: [Bool] = []
        for step in steps {
            switch step {
            case .willStore:
                work.willStore()
                storing += 1
            case .didStore:
                released.append(work.didStore())
                storing -= 1
            case .holdEnd:
                work.holdEnd()
            }
            #expect(work.areStored == (storing == 0))
        }
        #expect(released == expected)
    }
}
