import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct XMLJudgeTests {
    @Test(
        "Parsing stops at the first of a million errors",
        arguments: ["&x;", "& ", "\u{1}", "]]>", "&#0;"]
    )
    func stopsAtTheFirstError(fault: String) throws {
        let body = Data("<a>\(String(repeating: fault, count: 1 << 20))</a>".utf8)
        let judge = XMLJudge()
        #expect(throws: (any Error).self) { try judge.check(body) }
        #expect(judge.noteCount < 100)
    }

    @Test("1,024 warnings are accepted, and one more is an error")
    func limitsWarnings() throws {
        func document(_ count: Int) -> Data {
            Data("<a>\(String(repeating: "<p:b/>", count: count))</a>".utf8)
        }
        try XMLJudge().check(document(XMLJudge.maximumWarningCount))
        #expect(throws: (any Error).self) { try XMLJudge().check(document(XMLJudge.maximumWarningCount + 1)) }
    }
}
