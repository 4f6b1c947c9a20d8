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

    enum Step: Sendable { case willStore, didStore }

    /// Steps, and for each whether everything is stored after it.
    private static let scripts: [([Step], [Bool])] = [
        ([.willStore, .didStore], [false, true]),
        ([.willStore, .willStore, .didStore, .didStore], [false, false, false, true]),
        ([.willStore, .didStore, .willStore, .didStore], [false, true, false, true]),
    ]

    @Test(arguments: scripts)
    func allIsStoredAfterTheLastChange(steps: [Step], expected: [Bool]) {
        var work = CookieWork(.notYet)
        #expect(work.areStored)
        let stored = steps.map { step in
            switch step {
            case .willStore: work.willStore()
            case .didStore: work.didStore()
            }
            return work.areStored
        }
        #expect(stored == expected)
    }
}
