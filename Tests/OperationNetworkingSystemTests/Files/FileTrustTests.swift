import OperationNetworkingSystem
import Testing

@Suite struct FileTrustTests {
    private struct Row: Sendable {
        let mode: UInt32
        let trust: FileTrust
        var mark = FileMark.Finding.present
        var size: Int64 = 10
        var owner: UInt32 = 1000
        var links: UInt64 = 1
        var keepsModes = true
        var keepsMarks = true
    }

    private static let rows = [
        Row(mode: 0o600, trust: .full), Row(mode: 0o400, trust: .full), Row(mode: 0o700, trust: .full),
        Row(mode: 0o600, trust: .full, size: 0),
        Row(mode: 0o644, trust: .none), Row(mode: 0o640, trust: .none), Row(mode: 0o604, trust: .none),
        Row(mode: 0o755, trust: .none), Row(mode: 0o601, trust: .none),
        Row(mode: 0o664, trust: .none), Row(mode: 0o620, trust: .none), Row(mode: 0o602, trust: .none),
        Row(mode: 0o666, trust: .none),
        Row(mode: 0o600, trust: .none, owner: 1001), Row(mode: 0o600, trust: .none, owner: 0),
        Row(mode: 0o600, trust: .none, links: 2), Row(mode: 0o600, trust: .none, links: 0),
        // What any program makes under a umask of 077.
        Row(mode: 0o600, trust: .none, mark: .missing),
        Row(mode: 0o600, trust: .blank, mark: .missing, size: 0),
        Row(mode: 0o644, trust: .none, mark: .missing, size: 0),
        Row(mode: 0o600, trust: .none, mark: .missing, size: 0, owner: 1001),
        Row(mode: 0o755, trust: .none, mark: .missing, keepsModes: false),
        // Before Linux 6.6, tmpfs.
        Row(mode: 0o600, trust: .unmarked, mark: .unsupported),
        Row(mode: 0o600, trust: .unmarked, mark: .unsupported, size: 0),
        Row(mode: 0o644, trust: .none, mark: .unsupported),
        Row(mode: 0o600, trust: .none, mark: .unsupported, owner: 1001),
        Row(mode: 0o755, trust: .unmarked, mark: .unsupported, keepsModes: false),
        // Attributes can be read, and not set.
        Row(mode: 0o600, trust: .unmarked, mark: .missing, keepsMarks: false),
        Row(mode: 0o600, trust: .full, keepsMarks: false),
        Row(mode: 0o600, trust: .blank, mark: .missing, size: 0, keepsMarks: false),
        Row(mode: 0o644, trust: .none, mark: .missing, keepsMarks: false),
        Row(mode: 0o600, trust: .none, mark: .missing, owner: 1001, keepsMarks: false),
        Row(mode: 0o600, trust: .none, mark: .missing, links: 2, keepsMarks: false),
        Row(mode: 0o755, trust: .unmarked, mark: .missing, keepsModes: false, keepsMarks: false),
        // FAT, as it is mounted by default.
        Row(mode: 0o755, trust: .full, keepsModes: false), Row(mode: 0o777, trust: .full, keepsModes: false),
        Row(mode: 0o777, trust: .none, owner: 0, keepsModes: false),
        Row(mode: 0o777, trust: .none, links: 2, keepsModes: false),
    ]

    @Test(arguments: rows.indices)
    func theOwnerTheModeTheLinksAndTheMarkDecide(index: Int) {
        let row = Self.rows[index]
        let status = FileStatus(
            identity: FileIdentity(device: 1, inode: 2),
            size: row.size,
            allocated: row.size,
            links: row.links,
            owner: row.owner,
            group: 1000,
            mode: row.mode
        )
        let trust = FileTrust(
            status,
            mark: row.mark,
            user: 1000,
            keepsModes: { row.keepsModes },
            keepsMarks: { row.keepsMarks }
        )
        #expect(trust == row.trust)
    }

    @Test(
        arguments: [(0o644, 0o644), (0o664, 0o644), (0o640, 0o600), (0o666, 0o666), (0o755, 0o755)]
            as [(UInt32, UInt32)]
    )
    func withoutItsGroupAFileIsNobodysMore(mode: UInt32, withoutGroup: UInt32) {
        #expect(FileAccess(mode: mode).modeWithoutGroup == withoutGroup)
    }
}
