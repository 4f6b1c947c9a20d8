import OperationNetworkingSystem
import Testing

@Suite struct OwnFileTests {
    @Test(
        arguments: [
            (0o600, 1000, 1, true), (0o400, 1000, 1, true), (0o644, 1000, 1, true), (0o755, 1000, 1, true),
            (0o620, 1000, 1, false), (0o602, 1000, 1, false), (0o666, 1000, 1, false),
            (0o600, 1001, 1, false), (0o600, 0, 1, false), (0o600, 1000, 2, false), (0o600, 1000, 0, false),
        ] as [(UInt32, UInt32, UInt64, Bool)]
    )
    func theOwnerTheModeAndTheLinksDecide(mode: UInt32, owner: UInt32, links: UInt64, isOwn: Bool) {
        let status = FileStatus(
            identity: FileIdentity(device: 1, inode: 2),
            size: 10,
            allocated: 10,
            links: links,
            owner: owner,
            group: 1000,
            mode: mode
        )
        #expect(status.isOwn(of: 1000) == isOwn)
    }
}
