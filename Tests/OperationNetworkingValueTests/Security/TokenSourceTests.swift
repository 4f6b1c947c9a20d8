import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct TokenSourceTests {
    @Test func aRefusalConcernsTheTokenThatWasSent() {
        let source = TokenSource(TokenSource.Token("a")) { _ in throw CancellationError() }
        source.noteRefusal(of: TokenSource.Token("older"))
        #expect(source.validToken?.value == "a")
        source.noteRefusal(of: TokenSource.Token("a"))
        #expect(source.validToken == nil)
        #expect(source.token?.value == "a")
        // The program knows better.
        source.token = TokenSource.Token("a")
        #expect(source.validToken?.value == "a")
    }
}
