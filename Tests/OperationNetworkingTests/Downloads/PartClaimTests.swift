import OperationNetworkingSystem
import Testing

@testable import OperationNetworking

@Suite struct PartClaimTests {
    @Test(
        arguments: [
            (nil, .taken, .take, .take), (nil, .held, .wait, .wait), (nil, .unsupported, .take, .take),
            (FileTrust.none, .taken, .useOtherName, .useOtherName),
            (FileTrust.none, .held, .useOtherName, .useOtherName),
            (FileTrust.none, .unsupported, .useOtherName, .useOtherName),
            (.readable, .taken, .take, .makeAnew), (.readable, .held, .useOtherName, .useOtherName),
            (.readable, .unsupported, .useOtherName, .useOtherName),
            (.full, .taken, .take, .take), (.full, .held, .wait, .wait),
            (.full, .unsupported, .useOtherName, .useOtherName),
        ] as [(FileTrust?, PartFile.Lock, PartClaim, PartClaim)]
    )
    func whatIsMadeOfAFile(trust: FileTrust?, lock: PartFile.Lock, withBytes: PartClaim, empty: PartClaim) {
        #expect(PartClaim(trust, lock: lock, isEmpty: false) == withBytes)
        #expect(PartClaim(trust, lock: lock, isEmpty: true) == empty)
    }
}
