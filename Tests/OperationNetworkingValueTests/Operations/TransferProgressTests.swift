import Testing

@testable import OperationNetworking

@Suite struct TransferProgressTests {
    @Test(
        arguments: [(0, -1, nil), (5, 10, 0.5), (10, 10, 1), (20, 10, 1), (0, 0, nil)]
            as [(Int64, Int64, Double?)]
    )
    func theFractionIsKnownWithTheLength(total: Int64, expected: Int64, fraction: Double?) {
        #expect(TransferProgress(total: total, expected: expected).fraction == fraction)
    }
}
