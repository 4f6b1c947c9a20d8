internal import OperationNetworkingSystem

extension Transfers: TransferDelegate {
    func transfer(_ id: TransferID, didConnectTo connection: ConnectionID, mayGoBack: Bool) -> Bool {
        admission.didConnect(id, to: connection, mayGoBack: mayGoBack)
    }

    func transferDidStall(_ id: TransferID) {
        watch(id)
    }

    func transferDidGoOn(_ id: TransferID) {
        admission.didResume(id)
    }

    func transfer(_ id: TransferID, mustWaitUntil moment: MonotonicTime) {
        alarms.hold(id, until: moment)
    }
}
