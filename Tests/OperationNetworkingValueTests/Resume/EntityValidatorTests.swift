import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct EntityValidatorTests {
    // MARK: - Tags

    @Test(arguments: [
        ("\"v1\"", false), ("\"\"", false), ("W/\"v1\"", true), (" \"v1\" ", false), ("\"a'b,c;d\\\"", false),
        ("\"é\"", false),
    ])
    func readsATag(fieldValue: String, isWeak: Bool) throws {
        let tag = try #require(EntityTag(fieldValue: fieldValue))
        #expect(tag.isWeak == isWeak)
        #expect(tag.rawValue == fieldValue.trimmingCharacters(in: .whitespaces))
    }

    @Test(arguments: [
        "", "v1", "\"", "\"v1", "v1\"", "w/\"v1\"", "W\"v1\"", "W/v1", "W/ \"v1\"", "\"a\"b\"", "\"a b\"",
        "\"a\tb\"",
        "\"a\u{7F}b\"", "\"a\", \"b\"", "'v1'", "\"\u{FFFD}\"",
    ])
    func refusesInvalidTags(fieldValue: String) {
        #expect(EntityTag(fieldValue: fieldValue) == nil)
        #expect(EntityValidator(["ETag": fieldValue]).ifRange == nil)
    }

    @Test func tagsAreComparedOctetByOctet() {
        #expect(EntityTag(fieldValue: "\"\u{E9}\"") != EntityTag(fieldValue: "\"e\u{301}\""))
        #expect(EntityTag(fieldValue: "\"v1\"") != EntityTag(fieldValue: "\"V1\""))
        #expect(EntityTag(fieldValue: "W/\"v1\"") != EntityTag(fieldValue: "\"v1\""))
    }

    // MARK: - Dates

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("Wed Nov 16 08:49:37 1994", 784_975_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
            ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Monday, 01-Jan-24 00:00:00 GMT", 1_704_067_200),
        ] as [(String, Int64)]
    )
    func readsADate(fieldValue: String, seconds: Int64) {
        let now = Date(timeIntervalSince1970: 1_750_000_000)
        #expect(HTTPDate(fieldValue: fieldValue, now: now)?.secondsSince1970 == seconds)
    }

    @Test(arguments: [
        "", "0", "-1", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "sun, 06 nov 1994 08:49:37 gmt", "Mon, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06  Nov 1994 08:49:37 GMT",
        "Sun 06 Nov 1994 08:49:37 GMT", "Thu, 29 Feb 1900 00:00:00 GMT", "Wed, 29 Feb 2023 00:00:00 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "Sun Nov 06  8:49:37 1994",
        "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37Z",
        "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 +0000",
    ])
    func refusesInvalidDates(fieldValue: String) {
        #expect(HTTPDate(fieldValue: fieldValue) == nil)
    }

    @Test(arguments: [1e12, -1e12, 1e18, -1e18, 1e300])
    func anyTimeMayBeNow(now: Double) {
        let date = HTTPDate(
            fieldValue: "Sunday, 06-Nov-94 08:49:37 GMT",
            now: Date(timeIntervalSince1970: now)
        )
        #expect((date?.secondsSince1970).map { $0 > -1 << 40 && $0 < 1 << 40 } ?? true)
    }

    @Test("A year of two digits is at most 50 years ahead")
    func readsATwoDigitYear() throws {
        let now = Date(timeIntervalSince1970: 1_750_000_000)  // 2025
        let past = try #require(HTTPDate(fieldValue: "Thursday, 01-Jan-76 00:00:00 GMT", now: now))
        #expect(past.secondsSince1970 == 189_302_400)
        let future = try #require(
            HTTPDate(fieldValue: "Wednesday, 01-Jan-75 00:00:00 GMT", now: now)
                ?? HTTPDate(
                    fieldValue: "Tuesday, 01-Jan-75 00:00:00 GMT",
                    now: now
                )
        )
        #expect(future.secondsSince1970 == 3_313_526_400)
    }

    @Test func everyDayOfFourCenturiesIsReadInOrder() throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        for day in stride(from: Int64(-25_567), to: 120_000, by: 13) {  // from 1900 on
            let text = formatter.string(from: Date(timeIntervalSince1970: Double(day) * 86_400))
            #expect(HTTPDate(fieldValue: text)?.secondsSince1970 == day * 86_400, "\(text)")
        }
    }

    // MARK: - Strength

    static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
    static let sameSecond = "Sun, 06 Nov 1994 08:49:37 GMT"
    static let secondLater = "Sun, 06 Nov 1994 08:49:38 GMT"
    static let minuteLater = "Sun, 06 Nov 1994 08:50:37 GMT"

    @Test(
        arguments: [
            ("P8 strong tag", ["ETag": "\"v1\""], "\"v1\""),
            ("P8 strong tag with a date", ["ETag": "\"v1\"", "Last-Modified": modified], "\"v1\""),
            ("P8 the same tag twice", ["ETag": "\"v1\"", "etag": "\"v1\""], "\"v1\""),
            ("two tags", ["ETag": "\"v1\"", "etag": "\"v2\""], nil),
            ("P9 one second", ["Last-Modified": modified, "Date": secondLater], modified),
            (
                "P9 octets as received", ["Last-Modified": "Sun Nov  6 08:49:37 1994", "Date": secondLater],
                "Sun Nov  6 08:49:37 1994"
            ),
            (
                "P9 one minute through a proxy",
                ["Last-Modified": modified, "Date": minuteLater, "Via": "1.1 p"], modified
            ),
            ("P10 weak tag", ["ETag": "W/\"v1\""], nil),
            (
                "P10 weak tag with a strong date",
                ["ETag": "W/\"v1\"", "Last-Modified": modified, "Date": minuteLater], nil
            ),
            (
                "malformed tag with a strong date",
                ["ETag": "v1", "Last-Modified": modified, "Date": minuteLater], nil
            ),
            ("P11 no Date", ["Last-Modified": modified], nil),
            ("P11 same second", ["Last-Modified": modified, "Date": sameSecond], nil),
            ("P11 in the future", ["Last-Modified": minuteLater, "Date": modified], nil),
            (
                "P11 one second through a proxy",
                ["Last-Modified": modified, "Date": secondLater, "Via": "1.1 p"], nil
            ),
            (
                "P11 one second from a cache", ["Last-Modified": modified, "Date": secondLater, "Age": "0"],
                nil
            ),
            ("P11 no date", ["Last-Modified": "yesterday", "Date": secondLater], nil),
            ("P11 no Date that is one", ["Last-Modified": modified, "Date": "today"], nil),
            ("P11 two", ["Last-Modified": modified, "last-modified": modified, "Date": secondLater], nil),
            ("P12 nothing", ["Date": secondLater], nil),
        ] as [(String, HeaderFields, String?)]
    )
    func offersWhatIfRangeMayCarry(row: String, fields: HeaderFields, ifRange: String?) {
        #expect(EntityValidator(fields).ifRange == ifRange)
    }
}
