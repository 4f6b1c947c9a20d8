import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct ResumeErrorTests {
    @Test(arguments: [
        (ResumeError.malformedContentRange("bytes\r\n"), #""bytes\r\n""#),
        (
            .offsetMismatch(requested: 4, received: 2),
            "bytes from 4 were requested, but the server sent the bytes from 2"
        ),
        (.representationChanged, "changed"),
        (.unrequestedPartialContent, "206"),
        (.rangeNotSatisfiable(requested: 4, total: 3), "from 4 and then the whole file, of 3 bytes."),
        (.rangeNotSatisfiable(requested: 4, total: nil), "of unknown length."),
        (.unexpectedStatus(204), "204"),
        (
            .rangeMismatch(requested: "bytes=1-2", received: "bytes 0-1/9"),
            "for bytes=1-2, but the server sent bytes 0-1/9."
        ),
        (.rangeLengthMismatch(range: 100, body: 103), "a range of 100 bytes but sent 103"),
        (.severalParts(requested: "bytes=1-2"), "for bytes=1-2, but the server sent several parts"),
    ])
    func isASentenceWithTheNumbers(error: ResumeError, part: String) {
        #expect(error.description.contains(part))
        #expect(error.localizedDescription == error.description)
    }
}
