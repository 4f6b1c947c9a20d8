internal import Foundation
internal import OperationNetworkingSystem

// The rest of a stored body that cannot be read: the server has it, too.
extension CachedTransfer {
    /// The store has failed while its bytes were handed over, `rest` is missing: the server is asked for it,
    /// if a strong validator proves that it is of the same version (RFC 9110 §15.3.7.3).
    func goOn(_ error: TransferError, with entry: CacheEntry, _ rest: Range<Int64>) {
        switch error {
        case .wrongLength:
            // It is not what the index says, and so will it be the next time.
            place.store.remove(entry.id, of: question.key)
            entries.removeAll { $0.id == entry.id }
        case .idle: break
        default: return end(error)
        }
        if !fetchRest(rest, of: entry) { end(error) }
    }

    /// - Returns: whether the server is asked.
    func fetchRest(_ rest: Range<Int64>, of entry: CacheEntry) -> Bool {
        guard let fields = restFields(of: entry, rest) else { return false }
        var known = entry.head
        known.head.status = 206
        known.body = CachedExtent(
            range: 0..<rest.lowerBound,
            completeLength: entry.head.body.completeLength,
            isComplete: false
        )
        let count = rest.upperBound - rest.lowerBound
        fetch(.rest(until: rest.upperBound), fields, about: [known], rest: count)
        return true
    }

    /// The fields that ask for the bytes; `nil`: nothing would prove that they are of the same version, only
    /// what is stored is wanted, or it was stored for another who asks.
    func restFields(of entry: CacheEntry, _ rest: Range<Int64>) -> HeaderFields? {
        guard entry.head.isContinuable, !question.wantsOnlyStored,
            entry.head.authorization == question.authorization,
            let ifRange = entry.head.validator.ifRange
        else { return nil }
        var fields = question.fieldsToSend
        for name in ["If-None-Match", "If-Modified-Since"] { fields[name] = nil }
        fields["Range"] = "bytes=\(rest.lowerBound)-\(rest.upperBound - 1)"
        fields["If-Range"] = ifRange
        return fields
    }

    func answer(rest use: CacheInquiry.Use) -> HeadAnswer {
        if case .join = use { .receive } else { .refuse }
    }

    func conclude(rest fetch: CacheFetch, _ end: TransferEnd) {
        let short = TransferError.wrongLength(declared: fetch.rest ?? 0, received: fetch.passed)
        switch fetch.use {
        case .join: self.end(end.error ?? (fetch.passed == fetch.rest ? nil : short))
        case nil: self.end(end.error ?? short)
        // It has another version by now, or none.
        default: self.end(short)
        }
    }
}
