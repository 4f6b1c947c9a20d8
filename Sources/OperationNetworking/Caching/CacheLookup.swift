import Dispatch
import Foundation
internal import OperationNetworkingSystem

/// Looks for a response that is stored whole, before an exchange begins.
///
/// | What is stored                                                       | Answer                       |
/// |----------------------------------------------------------------------|------------------------------|
/// | one that answers as it is, a 200, whole, not longer than ``maximumLength`` | it                     |
/// | one to be validated, or to be renewed in the background              | nothing                      |
/// | another status: it may lead elsewhere, or be tried again             | nothing                      |
/// | none, or a body that cannot be read                                  | nothing                      |
/// | anything that the store does not tell within a quarter of its patience | nothing                    |
///
/// After *nothing* the exchange looks again, and does what is to be done: ``CachedTransfer``.
final class CacheLookup: ResponseLookup {
    /// Bytes of a body: such a one is in one piece.
    static let maximumLength = Int64(CacheBody.pieceLength)
    /// The part of the store's patience in which an answer has to come: the exchange waits for the rest.
    private static let patience = 0.25
    /// Goes on with a body that came from a file: the queue that has read it is for others, too.
    private static let queue = DispatchQueue(
        label: "OperationNetworking.cache.lookups",
        attributes: .concurrent
    )

    private let url: URL
    private let question: CacheRequest
    private let place: CachePlace
    private let clock = MonotonicTime.now
    private let wait = Locked(Wait())

    /// The wait for an answer that comes later.
    private struct Wait {
        /// Hears it, once.
        var listener: (@Sendable (KnownResponse?) -> Void)?
        /// Ends the wait if no answer comes.
        var limit: CacheWatch.Limit?
    }

    /// `nil`: the request is none that a whole response answers.
    init?(_ request: TransferRequest, in place: CachePlace) {
        guard request.method == "GET", request.body == nil, request.fields["Range"] == nil else { return nil }
        url = request.url
        self.place = place
        question = CacheRequest(request)
    }

    func ask(_ later: @escaping @Sendable (KnownResponse?) -> Void) -> LookupAnswer {
        wait.withLock { $0.listener = later }
        let answer = look()
        guard case .later = answer else {
            wait.withLock { $0.listener = nil }
            return answer
        }
        let limit = place.watch.limit(place.watch.patience * Self.patience) { self.tell(nil) }
        let isOver = wait.withLock { wait in
            wait.limit = limit
            return wait.listener == nil
        }
        if isOver { place.watch.lift(limit) }
        return answer
    }

    private func tell(_ answer: LookupAnswer) {
        switch answer {
        case .known(let response): tell(response)
        case .nothing: tell(nil)
        case .later: break
        }
    }

    private func tell(_ response: KnownResponse?) {
        let wait = wait.withLock { wait in
            defer { wait = Wait() }
            return wait
        }
        guard let listener = wait.listener else { return }
        if let limit = wait.limit { place.watch.lift(limit) }
        listener(response)
    }

    private func look() -> LookupAnswer {
        let known = place.store.find(question.key) { entries in self.tell(self.choose(entries)) }
        return known.map(choose) ?? .later
    }

    private func choose(_ entries: [CacheEntry]) -> LookupAnswer {
        let answer = place.policy.answer(to: question, from: entries.map(\.head), now: place.now())
        guard case .serve(let index, let reply) = answer, reply.revalidation == nil, reply.head.status == 200,
            reply.body == 0..<entries[index].head.length, reply.body.count <= Self.maximumLength
        else { return .nothing }
        guard !reply.body.isEmpty else { return .known(response(reply, Data())) }
        return open(entries[index], for: reply)
    }

    private func open(_ entry: CacheEntry, for reply: CacheReply) -> LookupAnswer {
        let known = place.store.read(entry, of: question.key) { reader in
            Self.queue.async { self.tell(self.read(reader, for: reply)) }
        }
        return known.map { read($0, for: reply) } ?? .later
    }

    private func read(_ reader: (any CacheReading)?, for reply: CacheReply) -> LookupAnswer {
        guard let reader else { return .nothing }
        let known = reader.read(at: 0, atMost: reply.body.count) { bytes in
            Self.queue.async { self.tell(self.answer(reply, try? bytes.get())) }
        }
        return known.map { answer(reply, $0) } ?? .later
    }

    private func answer(_ reply: CacheReply, _ bytes: Data?) -> LookupAnswer {
        guard let bytes, bytes.count == reply.body.count else { return .nothing }
        return .known(response(reply, bytes))
    }

    private func response(_ reply: CacheReply, _ body: Data) -> KnownResponse {
        var metrics = TransferMetrics()
        metrics.note(reply, to: url)
        metrics.bytesKept = Int64(body.count)
        metrics.transferTime = MonotonicTime.now - clock
        return KnownResponse(head: reply.head, body: body, metrics: metrics)
    }
}

extension TransferMetrics {
    /// Notes what a response from the cache tells.
    mutating func note(_ reply: CacheReply, to url: URL) {
        source = reply.use.source
        self.url = url.withoutUserInformation
        httpVersion = httpVersion ?? reply.head.versionNumber
    }
}
