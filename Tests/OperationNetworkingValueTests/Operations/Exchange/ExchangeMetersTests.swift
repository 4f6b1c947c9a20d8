import Foundation
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct ExchangeMetersTests {
    @Test func metersCountWhatHasLeft() {
        var meters = ExchangeMeters()
        let now = MonotonicTime(seconds: 100)
        meters.beginRequest(.data(Data(count: 100)))
        meters.take(60)
        #expect(meters.isUploading)
        #expect(meters.upload.catchUp(now: now) == nil)
        meters.noteSent(-10)
        meters.noteSent(40)
        #expect(meters.upload.catchUp(now: now)?.total == 40)
        // The kernel has more to send again, after a resumption of TLS or the like: nothing goes back.
        meters.noteSent(30)
        meters.take(40)
        meters.noteSent(.max)
        #expect(!meters.isUploading && meters.upload.finish(now: now)?.total == 100)
        meters.restartUpload(at: 0)
        #expect(!meters.isUploading)
        meters.take(10)
        // The next hop has no body.
        meters.beginRequest(nil)
        meters.noteSent(.max)
        #expect(!meters.isUploading && meters.upload.total == 0)
    }
}
