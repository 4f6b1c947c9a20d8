import Foundation
internal import OperationNetworkingSystem

// What is done about an index that fails.
extension DiskTier {
    /// Whether another try to open the index may help: it is of no use to any process, or another one has
    /// just replaced it.
    static func isCurable(_ error: any Error) -> Bool {
        switch error {
        case let error as DatabaseError: error.isCorruption || error.isReplacement
        case let error as DiskIndex.Unusable: error.finding.mayBeReplaced
        default: false
        }
    }

    /// Whether the reason for which the index cannot be opened may be gone a second later: its directory is
    /// being replaced, or mounted.
    static func mayPass(_ error: any Error) -> Bool {
        switch error {
        case let error as DatabaseError: error.isReplacement
        case let error as SystemError: error.code == ENOENT
        default: false
        }
    }
}
