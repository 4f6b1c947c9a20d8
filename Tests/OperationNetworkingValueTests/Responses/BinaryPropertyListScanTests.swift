import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct BinaryPropertyListScanTests {
    @Test("Values count once per reference")
    func limitsTheValues() throws {
        // An array of two arrays of three, which are one object.
        let list = Binary(objects: [[0xA2, 1, 1], [0xA3, 2, 2, 2], [0x09]]).data
        _ = try BinaryPropertyListScan(list.span, maximumValueCount: 9)
        #expect(throws: BodyRefusal("It has more than 8 values.")) {
            _ = try BinaryPropertyListScan(list.span, maximumValueCount: 8)
        }
    }
}
