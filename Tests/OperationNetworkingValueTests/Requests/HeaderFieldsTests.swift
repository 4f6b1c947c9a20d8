import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct HeaderFieldsTests {
    @Test(arguments: ["ETag", "etag", "ETAG", "eTaG"])
    func findsAFieldWhateverTheCaseOfItsName(name: String) {
        let fields: HeaderFields = ["Via": "a", "ETag": "\"v1\"", "etag": "\"v2\""]
        #expect(fields[name] == "\"v1\"")
        #expect(fields.values(for: name) == ["\"v1\"", "\"v2\""])
        #expect(fields.combined(for: name) == "\"v1\", \"v2\"")
    }

    @Test(arguments: ["ETa", "ETagg", "E-ag", "@Tag", ""])
    func ignoresOtherNames(name: String) {
        let fields: HeaderFields = ["ETag": "x", "`Tag": "y"]
        #expect(fields[name] == nil)
        #expect(fields.values(for: name).isEmpty)
        #expect(fields.combined(for: name) == nil)
    }

    @Test func settingReplacesTheFirstAndRemovesTheOthersOfThatName() {
        var fields: HeaderFields = ["A": "1", "b": "2", "a": "3", "B": "4"]
        fields["B"] = "5"
        #expect(fields == ["a": "1", "B": "5", "A": "3"])
        #expect(fields.fields.map(\.name) == ["A", "B", "a"])
        fields["a"] = nil
        #expect(fields == ["B": "5"])
        fields["C"] = "6"
        #expect(fields.fields.map(\.name) == ["B", "C"])
    }

    @Test func equalFieldsHashAlike() {
        let one: HeaderFields = ["Content-Type": "text/html"]
        let other: HeaderFields = ["content-TYPE": "text/html"]
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(one != ["Content-Type": "text/HTML"])
    }

    @Test func valuesThatUnicodeTakesForTheSameAreDifferent() {
        #expect(HeaderFields(["A": "\u{E9}"]) != HeaderFields(["A": "e\u{301}"]))
    }

    @Test func aDictionaryCombinesRepeatedNamesUnderTheFirstSpelling() {
        let fields: HeaderFields = ["Vary": "a", "X": "1", "vary": "b", "VARY": "c"]
        #expect(fields.dictionary == ["Vary": "a, b, c", "X": "1"])
    }

    @Test(arguments: [
        ("ETag: \"v1\"\r\n", "ETag", "\"v1\""),
        ("ETag:\"v1\"", "ETag", "\"v1\""),
        ("X-Empty:\r\n", "X-Empty", ""),
        ("X-Colons: a:b: c \t\r\n", "X-Colons", "a:b: c"),
        ("X-UTF8: Grüße\n", "X-UTF8", "Grüße"),
    ])
    func readsALineFromTheWire(line: String, name: String, value: String) {
        var fields = HeaderFields()
        let isField = fields.append(line: Array(line.utf8))
        #expect(isField)
        #expect(fields.fields == [HeaderFields.Field(name: name, value: value)])
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\n", "\r\n", "", "no colon", "a b: c", ": value", " continues nothing",
    ])
    func skipsAnInvalidLine(line: String) {
        var fields = HeaderFields()
        let isField = fields.append(line: Array(line.utf8))
        #expect(!isField)
        #expect(fields.isEmpty)
    }

    @Test func aLineThatStartsWithWhiteSpaceContinuesTheOneBefore() {
        var fields = HeaderFields()
        fields.append(line: Array("Link: <a>,\r\n".utf8))
        fields.append(line: Array("\t <b>\r\n".utf8))
        #expect(fields["Link"] == "<a>, <b>")
    }

    @Test func aHugeHeadIsCombinedInLinearTime() {
        var fields = HeaderFields()
        for number in 0..<20_000 { fields.append(name: "X-\(number)", value: "") }
        #expect(fields.dictionary.count == 20_000)
    }

    @Test func theOnlyValueIsThatOfAllLinesOfAName() {
        let fields: HeaderFields = ["A": "1", "B": "1", "a": "1", "b": "2", "C": "", "D": "1"]
        #expect(fields.onlyValue(for: "A") == "1" && fields.onlyValue(for: "d") == "1")
        #expect(fields.onlyValue(for: "c") == "" && fields.onlyValue(for: "E") == nil)
        #expect(fields.onlyValue(for: "B") == nil)
    }

    @Test func octetsAreThoseOfNamesAndValues() {
        var fields: HeaderFields = ["Name": "value"]
        fields.append(name: "Other".utf8Span.span, value: "\u{e4}".utf8Span.span)
        #expect(fields == ["Name": "value", "other": "\u{e4}"])
        #expect(fields.octetCount == 9 + 7)
        fields["Name"] = nil
        #expect(fields.octetCount == 7 && fields["Other"] == "\u{e4}")
    }
}
