internal import OperationNetworkingSystem

extension Transfer {
    /// The error caused by the proxy, if any.
    func proxyError(_ code: Int32) -> TransferError? {
        guard let proxy = request.trustDomain.proxy else { return nil }
        if heads.isRefusedByProxy { return .proxy(.authenticationRequired(proxy: proxy.address)) }
        guard let error = easy.error(for: code) else { return nil }
        let evidence = ProxyError.Evidence(
            code: code,
            message: error.message,
            tunnelStatus: easy.tunnelStatus,
            proxyCode: easy.proxyCode,
            hasConnection: connection.isThere
        )
        return ProxyError(proxy, evidence).map { .proxy($0) }
    }

    /// What an ended transfer has shown about the proxy, if it has one.
    var proxyEvidence: ProxyDemand.Evidence {
        guard request.trustDomain.proxy != nil else { return .none }
        if case .bodyCannotWait = failure { return .cannotHold }
        if heads.isRefusedByProxy { return .refused }
        // To libcurl, a response of a server in a tunnel looks as if it came from the proxy.
        let isProxyAlone = request.goesToProxy || !connection.isThere
        let offersMore = isProxyAlone ? easy.proxyOffersMoreThanBasic : connection.tunnelOffersMore
        if let offersMore { return offersMore ? .requestedStronger : .requestedBasic }
        return heads.status == nil ? .none : .passed
    }
}
