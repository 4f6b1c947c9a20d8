import Foundation
import FoundationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The entry of an observer in the lists of operations.
struct ObserverRelayTests {
    private let operation: ConnectionOperation
    private let response: HTTPURLResponse

    init() throws {
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        operation = ConnectionOperation(request: URLRequest(url: url))
        response = try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
        )
    }

    private func reportEverything(_ observer: any OperationObserver) {
        observer.operationDidStart(operation)
        observer.operationDidPause(operation)
        observer.operationDidResume(operation)
        observer.operation(operation, didReceive: response)
        observer.operation(operation, didDownload: 1, total: 2, expected: 3)
        observer.operation(operation, didUpload: 4, total: 5, expected: 6)
        observer.operation(operation, didFollow: response, to: operation.request)
        observer.operation(operation, didResumeAt: 7)
        observer.operation(operation, willStartOverBecause: .dataLost)
        observer.operation(operation, willRetry: Retry(cause: .response(response), delay: 1))
        observer.operationDidFinish(operation, wasRunning: true)
    }

    @Test func everythingIsPassedOnUntilTheEnd() {
        let (direct, listener) = (EventListener(), EventListener())
        let relay = ObserverRelay(to: listener)
        reportEverything(direct)
        reportEverything(relay)
        #expect(direct.events.elements.count == 9 && listener.events.elements == direct.events.elements)
        #expect(listener.downloaded.elements == [2] && listener.uploaded.elements == [5])
        relay.end()
        reportEverything(relay)
        #expect(listener.events.elements.count == 9 && listener.downloaded.elements == [2])
        #expect(relay.copied() == nil)
    }

    @Test func aCopyContinuesAfterTheEnd() {
        let listener = EventListener()
        let relay = ObserverRelay(to: listener)
        let copy = relay.copied()
        relay.end()
        copy?.operationDidStart(operation)
        #expect(listener.events.elements == ["started"])
        #expect(copy?.isOrLeads(to: listener) == true && copy?.isOrLeads(to: EventListener()) == false)
    }
}
