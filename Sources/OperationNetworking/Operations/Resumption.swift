import Foundation
import FoundationNetworking

/// What an exchange knows of the bytes that its sink holds, and how it asks for the rest: a value that decides.
///
/// Before each transfer ``ask(_:held:)``, at each head ``judge(_:held:canRewind:)``, at each end ``isShort(held:)``.
struct Resumption {
    /// Answers in a row that ended early and brought nothing, before it is given up.
    private static let maximumFruitlessRounds = 3

    /// Whether bytes that are there may be kept at all.
    let isAllowed: Bool
    /// What the last question was.
    private(set) var asked = ResumeRequest.whole
    /// What the sink holds, as its server described it.
    private var partial: PartialContent?
    /// The last answer to a range was 416.
    private var wasRefused = false
    /// The last answer was no use: the next question is for the whole.
    private var asksForWhole = false
    private var fruitlessRounds = 0

    init(isAllowed: Bool) {
        self.isAllowed = isAllowed
    }

    /// Whether only a part was asked for, by us.
    var asksForRest: Bool {
        switch asked {
        case .rest: true
        case .whole, .nothing, .ownRange: false
        }
    }

    /// Decides what to ask for, with `held` bytes there already.
    mutating func ask(_ request: URLRequest, held: Int64) -> ResumeRequest {
        let hasOwnRange = request.value(forHTTPHeaderField: "Range") != nil
        if asksForWhole || !(isAllowed || hasOwnRange) {
            asked = .whole
        } else {
            asked = ResumeRequest(request, continuing: partial(held))
        }
        asksForWhole = false
        return asked
    }

    /// Decides what an answer is good for, and remembers what it says about the whole.
    mutating func judge(_ head: ResponseHead, held: Int64, canRewind: Bool) -> ResumeDecision {
        let question = ResumeDecision.Question(
            asked: asked,
            partial: partial(held),
            canRewind: canRewind,
            wasRefused: wasRefused
        )
        wasRefused = head.status == 416
        let decision = ResumeDecision(question, status: head.status, fields: head.fields)
        switch decision {
        case .append(let total):
            partial?.total = total
        case .replace:
            partial = PartialContent(fields: head.fields, isHTTP10: head.version == "HTTP/1.0")
        case .restartWithoutRange:
            asksForWhole = true
        case .skip, .alreadyComplete, .fail, .deliver:
            break
        }
        return decision
    }

    /// Whether the server sent less than it was asked for (S4): what is missing has to be asked for next.
    func isShort(held: Int64) -> Bool {
        guard asksForRest, let total = partial?.total else { return false }
        return held < total
    }

    /// Counts an answer that was too short.
    /// - Returns: whether to go on asking.
    mutating func goesOn(afterReceiving bytes: Int64) -> Bool {
        fruitlessRounds = bytes > 0 ? 0 : fruitlessRounds + 1
        return fruitlessRounds < Self.maximumFruitlessRounds
    }

    private func partial(_ held: Int64) -> PartialContent? {
        guard held > 0, var partial else { return nil }
        partial.offset = held
        return partial
    }
}
