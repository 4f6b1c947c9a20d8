import Foundation
import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct CookieWorkTests {
    // MARK: - Reading

    private static let one = [Cookie(name: "a", value: "1", domain: "example.org")].compactMap(\.self)

    private static let readings: [(CookieReading, Bool, Int?)] = [
        (.notYet, false, nil),
        (.done(nil), true, nil),
        (.done(JarCookies(cookies: [], version: 0)), true, 0),
        (.done(JarCookies(cookies: one, version: 0)), true, 1),
    ]

    @Test(arguments: readings)
    func cookiesAreTakenOnce(reading: CookieReading, isRead: Bool, count: Int?) {
        var work = CookieWork(reading)
        #expect(work.areRead(from: CookieJar()) == isRead)
        #expect(work.take()?.cookies.count == count)
        #expect(!work.areRead(from: CookieJar()), "the next transfer reads them again")
        #expect(work.take()?.cookies == nil)
    }

    @Test(arguments: readings)
    func forgottenCookiesAreReadAgain(reading: CookieReading, isRead: Bool, count: Int?) {
        var work = CookieWork(reading)
        work.forget()
        #expect(!work.areRead(from: CookieJar()))
        #expect(work.take()?.cookies == nil)
    }

    @Test func cookiesOfAJarThatHasChangedAreReadAgain() throws {
        let jar = CookieJar()
        let work = CookieWork(.done(JarCookies(cookies: [], version: jar.version)))
        #expect(work.areRead(from: jar))
        jar.set(try #require(HTTPCookie(properties: [.name: "a", .value: "1", .domain: "h", .path: "/"])))
        #expect(!work.areRead(from: jar))
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
