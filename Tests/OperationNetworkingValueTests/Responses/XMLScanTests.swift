import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct XMLScanTests {
    @Test(
        "Nodes are counted: an attribute as two, white space not at all",
        arguments: [
            ("<a/>", 1), ("<a>  <b/> </a>", 2), ("<a>x y</a>", 2), ("<a>x<b/>y</a>", 4), ("<a b=''/>", 3),
            ("<!----><a><?p q?><![CDATA[<]]></a>", 4),
        ]
    )
    func countsNodes(text: String, nodes: Int) throws {
        let data = Data(text.utf8)
        _ = try XMLScan(data.span, maximumNodeCount: nodes)
        #expect(throws: BodyRefusal.self) { _ = try XMLScan(data.span, maximumNodeCount: nodes - 1) }
    }
}
