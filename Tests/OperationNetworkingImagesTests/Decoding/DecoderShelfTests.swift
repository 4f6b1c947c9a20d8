import Testing

@testable import OperationNetworkingImages

@Suite struct DecoderShelfTests {
    private var shelf = DecoderShelf<String>(limit: 2, wear: 3)

    /// The answer to `take`, as a word.
    private mutating func take() -> String {
        switch shelf.take() {
        case .reuse(let item): item.decoder
        case .start: "start"
        case .wait: "wait"
        }
    }

    @Test mutating func startsUpToTheLimitAndWaitsThen() {
        #expect([take(), take(), take()] == ["start", "start", "wait"])
        #expect(shelf.busy == 2)
    }

    @Test mutating func reusesTheLastOneThatCameBack() {
        _ = [take(), take()]
        #expect(shelf.give(.init(decoder: "a")) != nil)
        #expect(shelf.give(.init(decoder: "b")) != nil)
        #expect([take(), take(), take()] == ["b", "a", "wait"])
    }

    @Test mutating func oneThatIsOverMakesRoom() {
        _ = [take(), take()]
        #expect(shelf.give(nil) == nil)
        #expect(take() == "start")
    }

    @Test mutating func aWornDecoderIsNotKept() {
        _ = take()
        #expect(shelf.give(.init(decoder: "a", images: 1)) != nil)
        guard case .reuse(let item) = shelf.take() else {
            Issue.record("It is not there.")
            return
        }
        #expect(item.images == 2)
        #expect(shelf.give(item) == nil)
        #expect(shelf.idle.isEmpty && shelf.busy == 0)
    }

    @Test mutating func oneThatWasUsedSinceDoesNotExpire() throws {
        _ = take()
        let kept = shelf.give(.init(decoder: "a"))
        let first = try #require(kept)
        guard case .reuse(let item) = shelf.take() else {
            Issue.record("It is not there.")
            return
        }
        #expect(shelf.expire(first) == nil)
        let again = shelf.give(item)
        let second = try #require(again)
        #expect(shelf.expire(first) == nil)
        #expect(shelf.expire(second)?.decoder == "a")
        #expect(shelf.idle.isEmpty)
    }
}
