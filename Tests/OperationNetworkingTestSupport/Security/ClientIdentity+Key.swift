import OperationNetworkingSystem

@testable import OperationNetworking

extension ClientIdentity {
    /// Whether the private keys are the same, in whatever form they were given.
    func hasSameKey(as other: ClientIdentity) -> Bool { keyPair.privateKey == other.keyPair.privateKey }
}
