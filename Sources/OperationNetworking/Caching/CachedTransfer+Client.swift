import Foundation
internal import OperationNetworkingSystem

// The responses of the server.
extension CachedTransfer: TransferClient {
    func transferDidReceive(_ head: ResponseHead) -> HeadAnswer {
        guard case .fetching(let fetch) = phase else { return .refuse }
        let now = cache.now()
        var use = fetch.inquiry.use(of: head, now: now)
        if head.isWithoutBody, case .pass = use { use = .pass(nil) }
        fetch.use = use
        fetch.authenticationInfo = head.fields["Authentication-Info"]
        noteChanges(by: head, to: fetch, now: now)
        switch use {
        case .pass(let stored):
            if let stored { fetch.keep(stored, in: cache, entries) }
            let isShared = stored.map { fetch.isKeeping && fetch.inquiry.isReusable($0, now: now) } ?? false
            if !isShared {
                endSharing(.isForOne)
            } else if let sharing {
                cache.sharedRequests.noteShared(sharing)
            }
            return passOn(head, fetch)
        case .freshen:
            return .receive
        case .serveStale, .askAgain:
            return .refuse
        }
    }

    /// Gives the entry its new head, or removes it: the new head may forbid storing (RFC 9111 §5.2.2.5).
    private func update(_ entry: CacheEntry, to head: CachedHead, after fetch: CacheFetch) {
        if CachePolicy.forbidsStoring(head) {
            cache.store.remove(entry.id, of: question.key)
        } else {
            cache.store.update(entry, of: question.key, to: head, since: fetch.start)
        }
    }

    private func passOn(_ head: ResponseHead, _ fetch: CacheFetch) -> HeadAnswer {
        if revalidation != nil, !fetch.isKeeping { return answerUnused(head, fetch) }
        let answer = client.transferDidReceive(head)
        if answer == .refuse { fetch.abandon() }
        // The client may take its time to decide. Waiting transfers must not wait for that.
        if answer == .later { endSharing(.hasEnded) }
        return answer
    }

    /// Receives a body that neither the client nor the store wants, so that the connection can be reused, if
    /// the body is short and arrives soon. Refuses it otherwise.
    private func answerUnused(_ head: ResponseHead, _ fetch: CacheFetch) -> HeadAnswer {
        guard let length = try? MessageLength(method: question.method, head: head),
            UnusedBody.isWorthReceiving(length)
        else { return .refuse }
        fetch.isUnused = true
        cache.timeouts.wait(UnusedBody.discarded.timeLimit) { [weak self, weak fetch] in
            guard let self, let fetch, case .fetching(let current) = phase, current === fetch else { return }
            next.cancelReceiving(fetch.id)
        }
        return .receive
    }

    /// Updates stored responses: a HEAD updates those to GET, and an unsafe method invalidates all of its
    /// URLs.
    private func noteChanges(by head: ResponseHead, to fetch: CacheFetch, now: Double) {
        let changes = CachePolicy.updated(
            heads,
            byHEAD: head,
            for: question,
            requestTime: fetch.inquiry.time,
            responseTime: now
        )
        for (index, head) in changes.updated { update(entries[index], to: head, after: fetch) }
        for index in changes.invalidated {
            var head = entries[index].head
            head.isInvalidated = true
            cache.store.update(entries[index], of: question.key, to: head, since: fetch.start)
        }
        let urls = CachePolicy.invalidated(by: question, head)
        guard !urls.isEmpty else { return }
        for url in urls {
            for key in CachePartition.keys(of: url, for: request) { cache.store.invalidate(key) }
        }
        fetch.didChange(cache.store)
    }

    func transferDidReceive(_ changes: CookieChanges) {
        client.transferDidReceive(changes)
    }

    var transferMustWait: Bool {
        guard case .fetching(let fetch) = phase else { return true }
        let isFull = fetch.isFull { [weak self] in
            self?.later { transfer in
                guard case .fetching(let fetch) = transfer.phase else { return }
                transfer.cache.timeouts.stop(fetch.fullLimit)
                fetch.fullLimit = nil
                transfer.next.resumeReceiving(fetch.id)
            }
        }
        if isFull, fetch.fullLimit == nil { limitWriting(of: fetch) }
        guard client.transferMustWait else { return isFull }
        // This client is slow; those of the waiting transfers may not be.
        if isAwaited { later { if $0.isAwaited { $0.endSharing(.hasEnded) } } }
        return true
    }

    /// If the disk stalls, discards the entry instead of delaying the client.
    private func limitWriting(of fetch: CacheFetch) {
        fetch.fullLimit = cache.timeouts.wait(cache.timeouts.standard) { [weak self, weak fetch] in
            guard let self, let fetch, case .fetching(let current) = phase, current === fetch else { return }
            fetch.fullLimit = nil
            guard fetch.isFull else { return }
            fetch.abandon()
            endSharing(.hasEnded)
            next.resumeReceiving(fetch.id)
        }
    }

    func transferDidReceive(_ bytes: Span<UInt8>) throws {
        guard case .fetching(let fetch) = phase else { return }
        switch fetch.use {
        case .freshen, .serveStale, .askAgain, nil:
            return
        case .pass:
            fetch.passed += Int64(bytes.count)
            try client.transferDidReceive(bytes)
            fetch.take(bytes)
            // The response will not be stored, and it may never end.
            if sharing != nil, fetch.isLost { endSharing(.isForOne) }
            if revalidation != nil { try checkUse(of: fetch) }
        }
    }

    /// - Throws: `TransferError.refused` if a background revalidation receives bytes that nothing uses.
    private func checkUse(of fetch: CacheFetch) throws(TransferError) {
        guard fetch.isLost, !fetch.isUnused || fetch.passed > Int64(UnusedBody.maximumLength) else { return }
        throw .refused
    }

    func transferDidSend(_ count: Int) {
        client.transferDidSend(count)
    }

    func transferDidSeek(to offset: Int64) {
        client.transferDidSeek(to: offset)
    }

    // MARK: - Completion

    func transferDidComplete(_ end: TransferEnd) {
        guard case .fetching(let fetch) = phase else { return }
        let source = spent.source
        spent.add(end.metrics)
        spent.source = source
        switch fetch.use {
        case .freshen(let fresh) where end.error == nil:
            for (index, head) in fresh {
                if !CachePolicy.forbidsStoring(head) { update(entries[index], to: head, after: fetch) }
                entries[index].head = head
            }
            let forbidden = fresh.filter { CachePolicy.forbidsStoring($0.head) }
                .map { entries[$0.index].id }
            guard let (index, head) = fresh.first else { return self.end(nil) }
            endSharing(.isStored)
            var reply = CachePolicy.reply(head, to: question, now: cache.now(), source: .validated)
            reply.head.fields["Authentication-Info"] = fetch.authenticationInfo
            replay(entries[index], reply)
            // Not earlier: the replay must have opened the body first.
            for id in forbidden { cache.store.remove(id, of: question.key) }
        case .serveStale(let index, let reply):
            endSharing(.hasEnded)
            replay(entries[index], reply)
        case .askAgain(let index):
            cache.store.remove(entries[index].id, of: question.key)
            entries.remove(at: index)
            self.fetch()
        case nil where end.error?.isUnreachable == true:
            guard let stale = fetch.inquiry.staleReply(now: cache.now(), after: .unreachable) else {
                return self.end(end.error, sent: end.sentCount)
            }
            endSharing(.hasEnded)
            replay(entries[stale.index], stale.reply)
        case .pass, .freshen, nil:
            store(fetch, end)
            self.end(end.error, sent: end.sentCount)
        }
    }

    /// Stores the response. Waiting transfers continue once it can be found.
    private func store(_ fetch: CacheFetch, _ end: TransferEnd) {
        let isWhole = end.error == nil && end.metrics.isEndProven
        guard let key = sharing, isAwaited else {
            return fetch.finish(in: cache.store, entries, isWhole: isWhole)
        }
        sharing = nil
        // Only the first call counts.
        let outcome: @Sendable (SharedRequests.Outcome) -> Void = { [cache, id] outcome in
            cache.sharedRequests.finish(key, of: id, outcome)
        }
        fetch.finish(in: cache.store, entries, isWhole: isWhole) { isThere in
            NetworkThread.shared.perform { _ in outcome(isThere ? .isStored : .hasEnded) }
        }
        // A slow disk, or a slow closure of the caller's, does not delay them either.
        cache.timeouts.wait(cache.timeouts.standard) { outcome(.hasEnded) }
    }
}

extension TransferError {
    /// Whether the server could not be reached, or was lost before its response began. A server that is not
    /// trusted, or that refuses the client, was reached.
    var isUnreachable: Bool {
        switch self {
        case .curl(let error):
            // A TLS alert may arrive after the handshake. Other errors with these codes name the host.
            error.isLostHandshake || Self.losses.contains(error.code) && error.alert == nil
        case .idle, .slowHead, .truncatedHead: true
        default: false
        }
    }

    /// The codes of libcurl for a server that cannot be reached or was lost.
    private static let losses: Set<Int32> = [
        5,  // CURLE_COULDNT_RESOLVE_PROXY
        6,  // CURLE_COULDNT_RESOLVE_HOST
        7,  // CURLE_COULDNT_CONNECT
        16,  // CURLE_HTTP2
        28,  // CURLE_OPERATION_TIMEDOUT
        52,  // CURLE_GOT_NOTHING
        55,  // CURLE_SEND_ERROR
        56,  // CURLE_RECV_ERROR
        92,  // CURLE_HTTP2_STREAM
    ]
}
