/// The answer to a stream of ``HTTP2Server``.
public struct HTTP2Answer: Sendable {
    let status: Int
    let fields: FieldLines
    let body: AnswerBody
    let ending: HTTP2Ending
    let gate: Gate?

    /// A response. A `content-length` is sent only if `headers` contains it.
    ///
    /// With `endingAfter`, the ending is sent only when the gate is open. A client that receives the body and
    /// the ending in one read may treat the body differently.
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
