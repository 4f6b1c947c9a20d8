import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// S27: what an answer would take the place of, and whether it can be another version of that.
@Suite struct KeptBodyTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let kept: KeptBody
        let fields: HeaderFields
        let length: Int64?
        let isSomethingElse: Bool

        init(
            _ name: String,
            _ kept: KeptBody,
            _ fields: HeaderFields,
            _ length: Int64?,
            _ isSomethingElse: Bool
        ) {
            testDescription = name
            (self.kept, self.fields, self.length, self.isSomethingElse) = (
                kept, fields, length, isSomethingElse
            )
        }
    }

    private static let archive = KeptBody(mediaType: "application/zip", count: 1000, total: 4000)
    private static let untyped = KeptBody(count: 1000, total: 4000)
    private static let page: HeaderFields = ["Content-Type": "text/html; charset=utf-8"]
    private static let taggedPage: HeaderFields = ["Content-Type": "text/html", "ETag": "\"page\""]

    static let rows = [
        Row("a page", archive, page, 62, true),
        Row("a long page", archive, page, 10_000, true),
        Row("a page with a tag", archive, taggedPage, 62, true),
        Row("a page of unknown length", archive, page, nil, true),
        Row("a page, and a type that is not known", untyped, taggedPage, 62, true),
        Row(
            "another type with a tag",
            archive,
            ["Content-Type": "text/plain", "ETag": "\"v2\""],
            5000,
            true
        ),
        Row("the same type", archive, ["Content-Type": "Application/ZIP", "ETag": "\"v2\""], 10, false),
        Row(
            "the same type, no validator, as long",
            archive,
            ["Content-Type": "application/zip"],
            1000,
            false
        ),
        Row("the same type, no validator, shorter", archive, ["Content-Type": "application/zip"], 999, true),
        Row("no type, no validator, shorter", archive, [:], 999, true),
        Row("no type, no validator, no length", archive, [:], nil, false),
        Row("no type, a date, shorter", archive, ["Last-Modified": "x"], 999, false),
        Row("HTML for HTML", KeptBody(mediaType: "text/html", count: 1000), taggedPage, 62, false),
        Row("HTML for a file that begins so", KeptBody(isHTML: true, count: 1000), taggedPage, 62, false),
        Row(
            "a file for a page that broke off",
            KeptBody(mediaType: "text/html", count: 10, isNamed: false),
            ["Content-Type": "application/zip"],
            4000,
            false
        ),
        Row(
            "a file for a page with a tag",
            KeptBody(mediaType: "text/html", count: 10),
            ["Content-Type": "application/zip", "ETag": "\"v1\""],
            4000,
            false
        ),
        Row(
            "shorter, for a file whose server names no validator",
            KeptBody(mediaType: "application/json", count: 1000, hasLength: false),
            ["Content-Type": "application/json"],
            999,
            false
        ),
    ]

    @Test(arguments: rows) func aPageIsNotAVersionOfAFile(row: Row) {
        #expect((row.kept.objection(to: row.fields, length: row.length) != nil) == row.isSomethingElse)
    }

    @Test func theErrorNamesBoth() {
        let error = Self.archive.objection(to: Self.page, length: 62)
        #expect(error == .unexpectedContent(mediaType: "text/html", length: 62, expected: 4000))
        #expect(
            error?.description
                == "The server sent text/html, 62 bytes, instead of 4000 bytes: is this the sign-in page of a captive portal?"
        )
    }
}
