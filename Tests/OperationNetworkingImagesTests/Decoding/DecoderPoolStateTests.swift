import Testing

@testable import OperationNetworkingImages

@Suite struct DecoderPoolStateTests {
    private var state = DecoderPoolState<String>(limit: 2, imagesPerDecoder: 3)

    /// The answer to `take`, as a word.
    private mutating func take() -> String {
        switch state.take() {
        case .reuse(let item): item.decoder
        case .start: "start"
        case .wait: "wait"
        }
    }

    @Test mutating func startsUpToTheLimitAndWaitsThen() {
        #expect([take(), take(), take()] == ["start", "start", "wait"])
        #expect(state.busy == 2)
    }

    @Test mutating func reusesTheLastOneThatCameBack() {
        _ = [take(), take()]
        #expect(state.release(.init(decoder: "a")) != nil)
        #expect(state.release(.init(decoder: "b")) != nil)
        #expect([take(), take(), take()] == ["b", "a", "wait"])
    }

    @Test mutating func oneThatIsOverMakesRoom() {
        _ = [take(), take()]
        #expect(state.release(nil) == nil)
        #expect(take() == "start")
    }

    @Test mutating func aWornDecoderIsNotKept() {
        _ = take()
        #expect(state.release(.init(decoder: "a", images: 1)) != nil)
        guard case .reuse(let item) = state.take() else {
            Issue.record("It is not there.")
            return
        }
        #expect(item.images == 2)
        #expect(state.release(item) == nil)
        #expect(state.idle.isEmpty && state.busy == 0)
    }

    @Test mutating func oneThatWasUsedSinceDoesNotExpire() throws {
        _ = take()
        let kept = state.release(.init(decoder: "a"))
        let first = try #require(kept)
        guard case .reuse(let item) = state.take() else {
            Issue.record("It is not there.")
            return
        }
        #expect(state.expire(first) == nil)
        let again = state.release(item)
        let second = try #require(again)
        #expect(state.expire(first) == nil)
        #expect(state.expire(second)?.decoder == "a")
        #expect(state.idle.isEmpty)
    }
}
