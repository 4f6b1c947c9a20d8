internal import OperationNetworkingSystem

extension Transfer {
    /// The error of a proxy.
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

    /// The evidence about the proxy from a transfer that has ended.
    var proxyEvidence: ProxyDemand.Evidence {
        if case .bodyCannotWait = failure { return .cannotHold }
        if heads.isRefusedByProxy { return .refused }
        // What a server in a tunnel says to us looks to libcurl as if the proxy had said it.
        let isProxyAlone = request.isAskedOfProxy || !connection.isThere
        let offersMore = isProxyAlone ? easy.proxyOffersMoreThanBasic : connection.tunnelOffersMore
        if let offersMore { return offersMore ? .askedForMore : .askedForBasic }
        return heads.head == nil ? .none : .passed
    }
}
