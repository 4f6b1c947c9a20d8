import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct PartClaimTests {
    @Test(
        arguments: [
            (nil, .taken, .take), (nil, .held, .wait), (nil, .unsupported, .take),
            (FileTrust.none, .taken, .useOtherName), (FileTrust.none, .held, .useOtherName),
            (FileTrust.none, .unsupported, .useOtherName),
            (.blank, .taken, .makeAnew), (.blank, .held, .wait), (.blank, .unsupported, .useOtherName),
            (.unmarked, .taken, .take), (.unmarked, .held, .wait), (.unmarked, .unsupported, .useOtherName),
            (.full, .taken, .take), (.full, .held, .wait), (.full, .unsupported, .useOtherName),
        ] as [(FileTrust?, PartFile.Lock, PartClaim)]
    )
    func whatIsMadeOfAFile(trust: FileTrust?, lock: PartFile.Lock, claim: PartClaim) {
        #expect(PartClaim(trust, lock: lock) == claim)
    }
}
