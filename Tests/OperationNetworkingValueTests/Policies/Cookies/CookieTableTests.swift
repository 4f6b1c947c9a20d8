import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

struct CookieTableTests {
    private func cookie(
        _ name: String,
        _ value: String = "1",
        domain: String = "example.com",
        subdomains: Bool = false,
        path: String = "/",
        secure: Bool = false,
        expires: Int64? = nil
    ) throws -> Cookie {
        try #require(
            Cookie(
                name: name,
                value: value,
                domain: domain,
                includesSubdomains: subdomains,
                path: path,
                isSecure: secure,
                expires: expires
            )
        )
    }

    // MARK: - The table

    @Test func aCookieReplacesTheOneOfItsNameForTheSameHostsAndPath() throws {
        var table = CookieTable()
        table.set(try cookie("a", "1"), now: 0)
        table.set(try cookie("a", "2"), now: 0)
        table.set(try cookie("a", "3", path: "/p"), now: 0)
        table.set(try cookie("a", "4", subdomains: true), now: 0)
        #expect(table.cookies(now: 0).map(\.value) == ["2", "3", "4"])
        table.remove(try cookie("a", "other").identity)
        #expect(table.cookies(now: 0).map(\.value) == ["3", "4"])
    }

    @Test func aHostHasItsOwnAndThoseOfTheDomainsAboveIt() throws {
        var table = CookieTable()
        for (name, domain, flag) in [
            ("own", "a.example.com", false), ("above", "example.com", true), ("host", "example.com", false),
            ("other", "b.example.com", true), ("below", "x.a.example.com", true),
        ] {
            table.set(try cookie(name, domain: domain, subdomains: flag), now: 0)
        }
        #expect(table.cookies(concerning: "a.example.com", now: 0).map(\.name) == ["own", "above"])
        #expect(table.cookies(concerning: "example.com", now: 0).map(\.name) == ["above", "host"])
        #expect(table.cookies(concerning: "com", now: 0).isEmpty)
    }

    @Test func anExpiredCookieIsNotReturned() throws {
        var table = CookieTable()
        table.set(try cookie("a", expires: 10), now: 0)
        #expect(table.cookies(now: 9).count == 1)
        #expect(table.cookies(now: 10).isEmpty)
        #expect(table.cookies(concerning: "example.com", now: 10).isEmpty)
    }

    @Test func anExpiredCookieRemovesTheStoredOne() throws {
        var table = CookieTable()
        table.set(try cookie("a"), now: 5)
        table.set(try cookie("a", expires: 5), now: 5)
        #expect(table.isEmpty)
    }

    @Test func aDomainCannotFillTheJar() throws {
        var table = CookieTable()
        table.set(try cookie("other", domain: "example.org"), now: 0)
        for number in 0..<1000 { table.set(try cookie("n\(number)"), now: 0) }
        let names = table.cookies(concerning: "example.com", now: 0).map(\.name)
        #expect(names.count == CookieTable.maximumPerDomain)
        #expect(names.last == "n999" && names.first == "n\(1000 - CookieTable.maximumPerDomain)")
        #expect(table.cookies(concerning: "example.org", now: 0).count == 1)
    }

    @Test func noNumberOfDomainsCanFillMemory() throws {
        var table = CookieTable()
        for number in 0..<CookieTable.maximum {
            table.set(try cookie("a", domain: "n\(number).example"), now: 0)
        }
        #expect(table.cookies(now: 0).count == CookieTable.maximum)
        table.set(try cookie("a", domain: "last.example"), now: 0)
        // The oldest fiftieth went at once.
        let room = CookieTable.evictionCount
        #expect(table.cookies(now: 0).count == CookieTable.maximum + 1 - room)
        #expect(table.cookies(now: 0).first?.domain == "n\(room).example")
        #expect(table.cookies(concerning: "n\(room - 1).example", now: 0).isEmpty)
        #expect(table.cookies(concerning: "last.example", now: 0).count == 1)
        for number in 0..<(2 * room) {
            table.set(try cookie("b", domain: "n\(number).example"), now: 0)
            #expect(table.count <= CookieTable.maximum)
        }
    }

    @Test func aFullTableLooksAtAFewCookiesForEachNewOne() throws {
        var table = CookieTable()
        for number in 0..<CookieTable.maximum {
            table.set(try cookie("a", domain: "n\(number).example"), now: 0)
        }
        #expect(table.steps.value == 0)
        for number in 0..<2000 { table.set(try cookie("b", domain: "n\(number).example"), now: 0) }
        #expect((1...100 * 2000).contains(table.steps.value), "\(table.steps.value)")
    }

    @Test func whatHasExpiredCountsForTheEvictionOfAFullTable() throws {
        var table = CookieTable()
        for number in 0..<CookieTable.maximum {
            let expires: Int64? = (1...10).contains(number) ? 5 : nil
            table.set(try cookie("a", domain: "n\(number).example", expires: expires), now: 0)
        }
        table.set(try cookie("a", domain: "last.example"), now: 6)
        #expect(table.cookies(now: 6).count == CookieTable.maximum + 1 - CookieTable.evictionCount)
        #expect(table.cookies(now: 6).first?.domain == "n\(CookieTable.evictionCount).example")
    }

    @Test func whatHasExpiredIsEvictedFirst() throws {
        var table = CookieTable()
        table.set(try cookie("oldest"), now: 0)
        table.set(try cookie("short", expires: 5), now: 0)
        for number in 2..<CookieTable.maximumPerDomain { table.set(try cookie("n\(number)"), now: 0) }
        table.set(try cookie("last"), now: 6)
        #expect(table.cookies(now: 6).first?.name == "oldest")
        #expect(table.cookies(now: 6).count == CookieTable.maximumPerDomain)
    }

    @Test func whatIsNotSecureIsEvictedFirst() throws {
        var table = CookieTable()
        table.set(try cookie("sid", secure: true), now: 0)
        table.set(try cookie("short", secure: true, expires: 5), now: 0)
        for number in 0..<1000 { table.set(try cookie("n\(number)"), now: 0) }
        #expect(table.cookies(now: 0).prefix(2).map(\.name) == ["sid", "short"])
        // What has expired goes before both.
        let names = table.cookies(now: 6).map(\.name)
        table.set(try cookie("last"), now: 6)
        #expect(table.cookies(now: 6).map(\.name) == names + ["last"])
        // Where all are, the oldest goes; one that is not has no place.
        for number in 0..<CookieTable.maximumPerDomain {
            table.set(try cookie("s\(number)", secure: true), now: 6)
        }
        table.set(try cookie("plain"), now: 6)
        #expect(table.cookies(now: 6).first?.name == "s0")
        #expect(!table.cookies(now: 6).contains { !$0.isSecure })
        #expect(table.cookies(now: 6).count == CookieTable.maximumPerDomain)
    }

    @Test func aFullTableKeepsWhatIsSecure() throws {
        var table = CookieTable()
        table.set(try cookie("sid", domain: "secure.example", secure: true), now: 0)
        for number in 0..<CookieTable.maximum {
            table.set(try cookie("a", domain: "n\(number).example"), now: 0)
        }
        #expect(table.cookies(now: 0).first?.name == "sid")
        #expect(table.cookies(now: 0).count == CookieTable.maximum + 1 - CookieTable.evictionCount)
    }

    // MARK: - What came without TLS

    /// RFC 6265bis §5.7: a cookie of a response without TLS, and whether `sid` of the jar keeps it out.
    @Test(arguments: [
        (["sid", "example.com", "/a"], true), (["sid", "example.com", "/a/b"], true),
        (["sid", "example.com", "/"], false), (["sid", "example.com", "/ab"], false),
        (["sid", "www.example.com", "/a"], true), (["sid", "com", "/a"], true),
        (["sid", "badexample.com", "/a"], false), (["sid", "example.org", "/a"], false),
        (["SID", "example.com", "/a"], false), (["id", "example.com", "/a"], false),
    ])
    func aSecureCookieIsLeftAlone(plain: [String], isKeptOut: Bool) throws {
        let secure = try cookie("sid", "good", path: "/a", secure: true)
        for flag in [false, true] {
            let evil = try cookie(plain[0], "evil", domain: plain[1], subdomains: flag, path: plain[2])
            let over = try cookie(
                plain[0],
                "evil",
                domain: plain[1],
                subdomains: flag,
                path: plain[2],
                expires: 1
            )
            for isSecure in [false, true] {
                var table = CookieTable()
                table.set(secure, now: 0)
                let changes = CookieChanges(
                    from: [],
                    to: [evil],
                    naming: [plain[0]],
                    isSecure: isSecure,
                    now: 10
                )
                table.take(changes, now: 10)
                #expect(table.cookies(now: 10).contains(evil) != (isKeptOut && !isSecure))
                // The deletion of one that the transfer was sent, and that is `Secure` by now.
                table = CookieTable()
                table.set(secure, now: 0)
                let deletion = CookieChanges(
                    from: [evil],
                    to: [over],
                    naming: [plain[0]],
                    isSecure: isSecure,
                    now: 10
                )
                table.take(deletion, now: 10)
                let isDeleted = isSecure && evil.identity == secure.identity
                #expect(table.cookies(now: 10) == (isDeleted ? [] : [secure]))
            }
        }
    }

    @Test func onlySecureCookiesAreLeftAlone() throws {
        var table = CookieTable()
        table.set(try cookie("a", "old"), now: 0)
        table.set(try cookie("b", "old", secure: true, expires: 5), now: 0)
        let new = [try cookie("a", "new"), try cookie("b", "new")]
        table.take(CookieChanges(from: [], to: new, naming: ["a", "b"], isSecure: false, now: 10), now: 10)
        #expect(table.cookies(now: 10) == new)
    }

    /// An address is below none.
    @Test func theEndOfAnAddressIsNotADomain() throws {
        let secure = try cookie("sid", domain: "127.0.0.1", secure: true)
        #expect(secure.isProtected(from: try cookie("sid", domain: "127.0.0.1")))
        #expect(!secure.isProtected(from: try cookie("sid", domain: "0.0.1", subdomains: true)))
    }

    // MARK: - Changes

    @Test func newAndDifferentCookiesAreChanges() throws {
        let (kept, old, new) = (try cookie("kept"), try cookie("a", "1"), try cookie("a", "2"))
        let other = try cookie("b", expires: 50)
        let changes = CookieChanges(from: [kept, old], to: [new, other, kept], naming: ["a", "b"], now: 10)
        #expect(changes.stored == [new, other] && changes.deleted.isEmpty)
    }

    @Test func missingAndExpiredCookiesAreDeleted() throws {
        let (gone, over) = (try cookie("gone"), try cookie("over"))
        let changes = CookieChanges(
            from: [gone, over],
            to: [try cookie("over", expires: 1)],
            naming: ["gone", "over"],
            now: 10
        )
        #expect(changes.deleted == [gone, over] && changes.stored.isEmpty)
    }

    @Test func whatIsRefusedStaysAsItWas() throws {
        let (kept, gone) = (try cookie("a", "1"), try cookie("b"))
        let after = [try cookie("a", "2"), try cookie("c"), try cookie("d")]
        let names: Set = ["a", "b", "c", "d"]
        let changes = CookieChanges(
            from: [kept, gone],
            to: after,
            naming: names,
            refusing: ["a", "b", "c"],
            now: 10
        )
        #expect(changes.stored == [try cookie("d")] && changes.deleted.isEmpty)
    }

    @Test func unknownCookiesAreNotDeleted() throws {
        let after = [try cookie("a", expires: 1)]
        #expect(CookieChanges(from: [], to: after, naming: ["a"], now: 10).isEmpty)
    }

    @Test func unchangedCookiesAreNotChanges() throws {
        let both = [try cookie("a"), try cookie("b", expires: 50)]
        #expect(CookieChanges(from: both, to: both.reversed(), naming: ["a", "b"], now: 10).isEmpty)
    }

    // MARK: - Changes that the response is not the cause of

    @Test func aCookieThatTheResponseDoesNotNameIsLeftAlone() throws {
        // Its time was over meanwhile, or libcurl has not taken it: another transfer may have renewed it.
        let (over, untaken) = (try cookie("over", expires: 5), try cookie("untaken"))
        let changes = CookieChanges(from: [over, untaken], to: [try cookie("a")], naming: ["a"], now: 10)
        #expect(changes.stored == [try cookie("a")] && changes.deleted.isEmpty)
    }

    @Test func aCookieThatIsOverAndNamedForAnotherPathIsLeftAlone() throws {
        let (over, other) = (try cookie("a", expires: 5), try cookie("a", path: "/x"))
        let changes = CookieChanges(from: [over], to: [other], naming: ["a"], now: 10)
        #expect(changes.stored == [other] && changes.deleted.isEmpty)
    }

    @Test func aCookieThatIsOverAndDeletedIsDeleted() throws {
        let over = try cookie("a", expires: 5)
        #expect(CookieChanges(from: [over], to: [], naming: ["a"], now: 10).deleted == [over])
    }

    @Test func aLongHostCostsNothing() {
        var table = CookieTable()
        if let cookie = Cookie(name: "a", value: "1", domain: "a") { table.set(cookie, now: 0) }
        let host = String(repeating: "a.", count: 200_000) + "a"
        #expect(table.cookies(concerning: host, now: 0).isEmpty)
    }

    // MARK: - What several processes changed

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let before: String?
        let after: String?
        let held: String?
        let result: String?

        init(_ name: String, _ before: String?, _ after: String?, held: String?, _ result: String?) {
            testDescription = name
            (self.before, self.after, self.held, self.result) = (before, after, held, result)
        }
    }

    @Test(arguments: [
        Row("nothing changed", "1", "1", held: "1", "1"),
        Row("changed here", "1", "2", held: "1", "2"),
        Row("changed there", "1", "1", held: "2", "2"),
        Row("changed here and there", "1", "2", held: "3", "2"),
        Row("new here", nil, "1", held: nil, "1"),
        Row("new there", nil, nil, held: "1", "1"),
        Row("new here and there", nil, "1", held: "2", "1"),
        Row("deleted here", "1", nil, held: "1", nil),
        Row("deleted here, changed there", "1", nil, held: "2", nil),
        Row("deleted there", "1", "1", held: nil, nil),
        Row("deleted there, changed here", "1", "2", held: nil, "2"),
    ])
    func eachCookieIsTheOneThatWasChanged(row: Row) throws {
        func cookies(_ value: String?) throws -> [Cookie] {
            try [cookie("other", "0")] + (value.map { [try cookie("a", $0)] } ?? [])
        }
        let table = try CookieTable(
            cookies(row.held),
            changedFrom: cookies(row.before),
            to: cookies(row.after),
            now: 0
        )
        #expect(table.cookies(now: 0).first { $0.name == "a" }?.value == row.result)
        #expect(table.count == (row.result == nil ? 1 : 2))
    }

    /// It ended by itself, and another process may have renewed it.
    @Test func aCookieThatExpiresIsNotDeleted() throws {
        let (old, new) = (try cookie("a", "1", expires: 10), try cookie("a", "2", expires: 100))
        let table = CookieTable([new], changedFrom: [old], to: [], now: 20)
        #expect(table.cookies(now: 20) == [new])
    }
}
