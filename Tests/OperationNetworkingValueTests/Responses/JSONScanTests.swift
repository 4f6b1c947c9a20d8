import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct JSONScanTests {
    @Test(
        "A text is counted by its values",
        arguments: [
            ("0", 0, 1, 1), ("[]", 1, 8, 2), ("{}", 1, 49, 2), ("[0]", 1, 8, 2), ("[0,0]", 1, 9, 3),
            (#"["[,{:"]"#, 1, 8, 2), (#"["\",[,"]"#, 1, 8, 2), (#"["\\",0]"#, 1, 9, 3),
            (#"{"a":1}"#, 1, 50, 3), (#"{"a":{"b":[]}}"#, 3, 106, 6), ("[[],[[]]]", 3, 30, 6),
            ("]][", 0, 8, 2),
        ]
    )
    func counts(text: String, depth: Int, asTree: Int, decoded: Int) throws {
        let data = Data(text.utf8)
        let tree = try JSONScan(data.span, makesTree: true)
        #expect(tree.depth == depth)
        #expect(tree.valueCount == asTree)
        #expect(try JSONScan(data.span, makesTree: false).valueCount == decoded)
    }

    @Test("In JSON5 every mark counts, even in strings and comments, and the depth is unknown")
    func countsJSON5() throws {
        let data = Data(#"['"',/*[*/"[[",0]"#.utf8)
        let scan = try JSONScan(data.span, makesTree: false, isJSON5: true)
        #expect(scan.valueCount == 7)
        #expect(scan.depth == JSONScan.maximumDepth)
    }

    @Test("More than 512 levels are refused before the parser")
    func refuses513Levels() throws {
        for (count, isRefused) in [(512, false), (513, true)] {
            let data = Data(String(repeating: "[", count: count).utf8)
            #expect((try? JSONScan(data.span, makesTree: true)) == nil || !isRefused)
        }
    }
}
