import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The values that a queue receives: a script for each rule.
@Suite struct NewestValueTests {
    @Test func eachNewValueIsReportedOnce() {
        var news = NewestValue<Int>()
        #expect(news.offer(1) == true)
        #expect(news.take() == 1)
        #expect(news.hasMore() == false)
        #expect(news.offer(1) == false)
        #expect(news.offer(2) == true)
        #expect(news.take() == 2)
        #expect(news.take() == nil)
    }

    @Test func aSlowQueueReceivesTheNewest() {
        var news = NewestValue<Int>()
        #expect(news.offer(1) == true)
        #expect(news.offer(2) == false)
        #expect(news.offer(3) == false)
        #expect(news.take() == 3)
        #expect(news.hasMore() == false)
    }

    @Test func aSlowQueueDoesNotReceiveRevertedValues() {
        var news = NewestValue<Int>()
        #expect(news.offer(1) == true)
        #expect(news.take() == 1)
        #expect(news.offer(2) == false)
        #expect(news.hasMore() == true)
        #expect(news.offer(1) == false)
        #expect(news.take() == nil)
        #expect(news.hasMore() == false)
    }

    @Test func aForgottenValueMayBeReportedAgain() {
        var news = NewestValue<Int>()
        #expect(news.offer(1) == true)
        news.forget()
        #expect(news.take() == nil)
        #expect(news.hasMore() == false)
        #expect(news.offer(1) == true)
        #expect(news.take() == 1)
        #expect(news.hasMore() == false)
        news.forget()
        #expect(news.offer(1) == true)
    }
}
