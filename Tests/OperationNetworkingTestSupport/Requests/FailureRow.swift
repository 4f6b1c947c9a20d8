import OperationNetworking
import Testing

/// An error, and what `RequestFailure` says of it, as words.
struct FailureRow: Sendable, CustomTestStringConvertible {
    let error: any Error
    let answers: String

    init(_ error: any Error, _ answers: String) {
        self.error = error
        self.answers = answers
    }

    var testDescription: String { "\(error)" }

    static func answers(_ error: any Error) -> String {
        let failure = RequestFailure(error)
        var answers: [String] = []
        if failure.isCancelled { answers.append("cancelled") }
        if failure.isTimeout { answers.append("timeout") }
        if failure.isOffline { answers.append("offline") }
        if failure.isUntrusted { answers.append("untrusted") }
        if let status = failure.statusCode { answers.append("\(status)") }
        if failure.isTemporary { answers.append("temporary") }
        if failure.isProgrammingError { answers.append("mistake") }
        return answers.joined(separator: " ")
    }
}
