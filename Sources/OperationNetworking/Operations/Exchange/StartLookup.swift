import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// The question of an operation to the layer before the network, before its exchange begins.
///
/// | Only of a request                                     | since                                           |
/// |-------------------------------------------------------|-------------------------------------------------|
/// | with one layer                                        | another one may answer first                    |
/// | without a body, and without bytes of an earlier process | there is a question for the rest              |
/// | whose body goes to memory, unasked and in one         | other places have to be opened                  |
/// | without credentials, a token source, or adapters      | the network thread knows what they come to      |
/// | whose cookies and authorities are known               | they have to be read first                      |
/// | without a limit of all its time                       | the exchange counts it                          |
///
/// A value that knows what the answer is good for; its identity says which lookup of an operation it is.
final class StartLookup: Sendable {
    /// Asks the layer.
    let layer: any ResponseLookup
    private let url: URL
    private let resumption: Resumption
    private let memoryLimit: Int64

    init?(_ configuration: ExchangeConfiguration, _ cookies: CookieReading) {
        guard let layer = configuration.settings.layers.only as? any TransferLayering,
            case .done(let jarCookies) = cookies, configuration.needsNothingBefore,
            let url = configuration.request.url
        else { return nil }
        var resumption = Resumption(isAllowed: configuration.resumesByRange, overlap: configuration.overlap)
        let asked = resumption.ask(configuration.request, held: HeldBytes())
        let request = try? configuration.transferRequest(
            for: configuration.request,
            body: nil,
            asking: asked,
            continues: false,
            cookies: jarCookies
        )
        guard let request, let lookup = layer.lookup(for: request) else { return nil }
        self.layer = lookup
        self.url = url
        self.resumption = resumption
        memoryLimit = configuration.memoryLimit
    }

    /// The head for the owner, and the length that is expected, as an exchange would have judged them; `nil`:
    /// an exchange has to.
    func judge(_ known: KnownResponse) -> (response: ReceivedResponse, expected: Int64?)? {
        guard Int64(known.body.count) <= memoryLimit else { return nil }
        var resumption = resumption
        let decision = resumption.judge(
            known.head,
            from: url.absoluteString,
            held: HeldBytes(),
            abilities: MemorySink.abilities
        )
        guard case .replace(let total, nil) = decision, total ?? 0 <= memoryLimit else { return nil }
        return (ReceivedResponse(known.head, for: url), total)
    }
}

extension ExchangeConfiguration {
    /// Whether the first transfer needs no more than the request, its settings and its cookies.
    fileprivate var needsNothingBefore: Bool {
        guard case .memory = destination, !asksForPlace, !givesPieces, check == nil, body == nil,
            request.httpBody == nil, request.httpBodyStream == nil
        else { return false }
        guard settings.credential == nil, settings.tokenSource == nil, settings.requestAdapters.isEmpty,
            settings.timeouts.total == nil, let url = request.url, !url.mayHaveUserInformation
        else { return false }
        return anchorVersions != nil || settings.trustAnchors.places.isEmpty || !url.isTLS
    }
}

/// The work of an operation that has started: a value that decides what a command does before there is an
/// exchange.
///
/// | Work               | begin, or go on  | pause     | cancel              | an end that does not count |
/// |--------------------|------------------|-----------|---------------------|----------------------------|
/// | none               | lookup, exchange | -         | an exchange ends it | -                          |
/// | lookup             | -                | none      | an exchange ends it | -                          |
/// | answered, it comes | -                | -         | -                   | answered                   |
/// | answered           | its end comes    | -         | its end comes       | -                          |
/// | exchange           | goes on          | suspended | cancelled           | the exchange keeps it      |
enum OperationWork {
    case none
    /// A layer is asked for a response; if it has none, an exchange begins.
    case lookup(StartLookup)
    /// A layer has answered, and that was told: the end is on its way, or was overtaken by a pause.
    case answered(ExchangeEnd, comes: Bool)
    case exchange(any Exchanging)

    /// A task that is left when the operation's lock is released.
    enum Task {
        case ask(StartLookup)
        case finish(ExchangeEnd)
    }

    var exchange: (any Exchanging)? {
        if case .exchange(let exchange) = self { exchange } else { nil }
    }

    /// Whether it is this lookup, still.
    func isLookup(_ lookup: StartLookup) -> Bool {
        if case .lookup(let current) = self { current === lookup } else { false }
    }

    /// Whether a layer has answered, so that no exchange is needed.
    var isAnswered: Bool {
        if case .answered = self { true } else { false }
    }

    /// The task that an effect leaves; `nil`: none.
    mutating func task(after effect: OperationStateMachine.Effect) -> Task? {
        switch (effect, self) {
        case (.begin, .lookup(let lookup)):
            return .ask(lookup)
        case (.begin, .answered(let end, comes: false)), (.abandon, .answered(let end, comes: false)):
            self = .answered(end, comes: true)
            return .finish(end)
        default:
            return nil
        }
    }

    /// The end has come, and does not count: the operation is paused.
    mutating func keepEnd() {
        if case .answered(let end, comes: true) = self { self = .answered(end, comes: false) }
    }
}
