import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

struct HTTPDateTextTests {
    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
    ])
    func isWrittenAsIMFFixdate(seconds: Double, text: String) {
        #expect(HTTPDate(Date(timeIntervalSince1970: seconds)).text == text)
    }

    @Test func isReadBackAsItWasWritten() {
        for step in -2000..<5000 {
            let date = HTTPDate(Date(timeIntervalSince1970: Double(step) * 31_557_123.5))
            #expect(HTTPDate(fieldValue: date.text) == date, "\(date.text)")
        }
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, 1e300, -1e300])
    func aMomentThatCannotBeWrittenIsTheNearestThatCan(seconds: Double) {
        let date = HTTPDate(Date(timeIntervalSince1970: seconds))
        #expect(HTTPDate(fieldValue: date.text) == date)
    }
}
