/// The answer to a stream of ``HTTP2Server``.
public struct HTTP2Answer: Sendable {
    let status: Int
    let fields: FieldLines
    let body: AnswerBody
    let ending: HTTP2Ending
    let gate: Gate?

    /// A response; a `content-length` is sent only if `headers` has it.
    ///
    /// With an `endingAfter`, everything before the ending is sent, and the ending when the gate is open.
    /// A client that finds both in one read may treat the body otherwise than one that had the body
    /// before.
    public static func respond(
        _ status: Int = 200,
        _ headers: FieldLines = [:],
        body: AnswerBody = "",
        ending: HTTP2Ending = .whole,
        endingAfter gate: Gate? = nil
    ) -> HTTP2Answer {
        HTTP2Answer(status: status, fields: headers, body: body, ending: ending, gate: gate)
    }
}
