import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct StructuredDictionaryTests {
    private typealias Member = StructuredDictionary.Member

    @Test func byteSequencesKeepTheirValue() {
        #expect(
            StructuredDictionary(fieldValue: "a=:AQI=:, b=:AA==:;c;d=1,e=::")?.members == [
                Member(key: "a", bytes: [1, 2]), Member(key: "b", bytes: [0]), Member(key: "e", bytes: []),
            ]
        )
    }

    @Test(
        "RFC 8941 §3: every type of value is parsed",
        arguments: [
            "a", "a;b", "a;b;c=?1;d=\"x\"", "a;  b", "a=1", "a=-1", "a=999999999999999", "a=1.5",
            "a=-123456789012.123",
            "a=\"\"", #"a="\"\\ :,""#, "a=t", "a=*t:/!#$%&'*+-.^_`|~", "a=T", "a=?0", "a=?1;b=:AQ==:", "a=()",
            "a=(  )",
            "a=(1 \"2\" :Aw==:;b ?1);c", "a=(1  2)", "a=( 1)", "*", "*a_-.*9=1", " a=1", "a=1 ", "a=1 \t",
            "a=::",
        ]
    )
    func everyTypeOfValueIsRead(value: String) throws {
        let members = try #require(StructuredDictionary(fieldValue: value)?.members)
        #expect(members.count == 1)
        #expect(
            try #require(StructuredDictionary(fieldValue: value + ",\t b=:Ag==:")).members.last?.bytes == [2]
        )
    }

    @Test func anEmptyFieldHasNoMembers() {
        #expect(StructuredDictionary(fieldValue: "")?.members == [])
        #expect(StructuredDictionary(fieldValue: "  ")?.members == [])
    }

    @Test(
        "RFC 8941 §4.2: one mistake spoils the whole",
        arguments: [
            ",", "a=1,", "a=1, ", ",a=1", "a=1,,b=2", "a=1 b=2", "a=1;", "A=1", "1=1", "-a=1", "a=", "a =1",
            "a= 1", "a==1",
            "a=1;B", "a=1;b=", "a=1;b= 1", "a=1 ;b", "a=1\n", "a=:", "a=:AQI", "a=:A:", "a=:AA=:", "a=:A A:",
            "a=:A.:",
            "a=:_-A=:", "a=:AQ==:x", "a=::x", "a=\"", "a=\"\\a\"", "a=\"\\", "a=\"\t\"", "a=\"ä\"",
            "a=\"\u{7F}\"", "a=?",
            "a=?2", "a=?true", "a=-", "a=--1", "a=1000000000000000", "a=1.", "a=.1", "a=1.1234",
            "a=1234567890123.1",
            "a=1.1.1", "a=1e3", "a=(", "a=(1", "a=(1,2)", "a=(1\t2)", "a=(1\"2\")", "a=((1))", "a=@1",
            "a=%\"x\"", "a='x'",
            "a=ä", "ä=1", "a\u{0}", "a=1\u{0}", "sha-256=AQ==", "SHA-256=:AQ==:", "\u{FFFD}",
        ]
    )
    func aMistakeSpoilsTheWhole(value: String) {
        #expect(StructuredDictionary(fieldValue: value) == nil)
        #expect(StructuredDictionary(fieldValue: "b=:Ag==:, " + value + ", c=:Aw==:") == nil)
    }

    @Test func aTabIsNoSpaceBeforeTheFirst() {
        #expect(StructuredDictionary(fieldValue: "\ta=1") == nil)
    }

    @Test func aRepeatedKeyIsKeptEachTime() {
        #expect(
            StructuredDictionary(fieldValue: "a=:AQ==:, a=1, a=:Ag==:")?.members.map(\.bytes) == [
                [1], nil, [2],
            ]
        )
    }

    @Test func whatIsMadeOfItsCharactersNeverTraps() {
        var random = SeededGenerator(seed: 8941)
        let alphabet = Array("a=:;,?()\"\\ \t1.-*AQ=\u{0}ä")
        var readable = 0
        for _ in 0..<20_000 {
            let length = Int.random(in: 0..<12, using: &random)
            let value = String(
                (0..<length).map { _ in alphabet[Int.random(in: alphabet.indices, using: &random)] }
            )
            guard let members = StructuredDictionary(fieldValue: value)?.members else { continue }
            readable += 1
            // What was read can be followed by more.
            let more = StructuredDictionary(fieldValue: value + (members.isEmpty ? "" : ",") + "z=:AQ==:")
            #expect(more?.members == members + [Member(key: "z", bytes: [1])], "\(value)")
        }
        #expect(readable > 100)
    }

    @Test func aLongFieldIsReadInLinearTime() {
        let members = (0..<20_000).map { "a\($0)=:AQ==:" }.joined(separator: ", ")
        #expect(StructuredDictionary(fieldValue: members)?.members.count == 20_000)
        #expect(StructuredDictionary(fieldValue: String(repeating: "(", count: 100_000)) == nil)
        #expect(StructuredDictionary(fieldValue: "a=" + String(repeating: "(", count: 100_000)) == nil)
    }
}
