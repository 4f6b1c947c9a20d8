import Foundation
import OperationNetworkingTesting
import Testing

@testable import opget

/// Places where a file cannot be saved.
@Suite(.serialized) struct PlaceTests {
    private let opget: Opget
    private let server: ScriptedServer

    init() throws {
        opget = try Opget()
        server = try ScriptedServer([.respond(200, body: .generated(length: 200_000))])
    }

    private var address: String { server.url(path: "a").absoluteString }

    /// Whether this process may have a disk of its own.
    private static let isDiskPermitted = (try? onSmallDisk("exit 7", []).code) == 7

    /// Runs a shell's command where `/mnt` is a disk of 64 KiB, for this command alone.
    private static func onSmallDisk(
        _ script: String,
        _ arguments: [String]
    ) throws -> (code: Int32, errors: String) {
        let process = Process()
        let errors = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let namespaces = geteuid() == 0 ? ["--mount"] : ["--map-root-user", "--mount"]
        let mounting = "mount -t tmpfs -o size=65536 small /mnt || exit 99; "
        process.arguments = ["unshare"] + namespaces + ["sh", "-c", mounting + script, "sh"] + arguments
        process.standardError = errors
        try process.run()
        let text = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    @Test(.enabled(if: isDiskPermitted)) func aFullDiskHasACodeOfItsOwn() throws {
        let result = try Self.onSmallDisk("exec \"$1\" -d /mnt \"$2\"", [Opget.binary.path, address])
        #expect(result.code == 10)
        #expect(result.errors.contains("would have 200000 bytes, which exceeds the maximum file size"))
        // It is known before a byte is written, and tried once.
        #expect(server.requests.count == 1)
    }

    @Test(.enabled(if: isDiskPermitted)) func aDiskThatFillsUpKeepsWhatCame() throws {
        let script = "\"$1\" -d /mnt --retry 0 \"$2\"; code=$?; test -s /mnt/a.part || code=98; exit $code"
        // In small pieces: one that does not fit is not written at all.
        let answer = Answer.respond(200, body: .generated(length: 200_000)).chunked().throttled(to: 200_000)
        let slow = try ScriptedServer([answer])
        let result = try Self.onSmallDisk(script, [Opget.binary.path, slow.url(path: "a").absoluteString])
        #expect(result.code == 10)
        #expect(result.errors.contains("is kept"))
    }

    @Test func aDirectoryThatMayNotBeWrittenToIsAFilesFailure() async throws {
        // Root may write anywhere but there.
        #expect(try await opget("-o", "/proc/a", address).code == 3)
        #expect(try await opget("-o", "/sys/a", address).code == 3)
        #expect(server.requests.isEmpty)
    }

    /// Runs it as user 65534, in a directory of root's with this mode.
    private func runAsOtherUser(_ arguments: [String], mode: mode_t) throws -> (code: Int32, errors: String) {
        let process = Process()
        let errors = Pipe()
        try #require(chmod(opget.directory.url.path, mode) == 0)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", Opget.binary.path] + arguments
        process.currentDirectoryURL = opget.directory.url
        process.standardError = errors
        try process.run()
        let text = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    @Test(.enabled(if: geteuid() == 0), arguments: [0o733, 0o1733] as [mode_t])
    func aDirectoryThatMayNotBeReadIsGoodEnough(mode: mode_t) async throws {
        let stalling = try ScriptedServer(
            serving: Representation(.generated(length: 200_000), entityTag: .strong("v1")),
            answers: [.currentRepresentation.breaking(after: 100_000), .currentRepresentation]
        )
        let arguments = ["--retry", "0", stalling.url(path: "a").absoluteString]
        #expect(try runAsOtherUser(arguments, mode: mode).code == 4)
        #expect(try opget.files() == ["a.part", "a.part.resume"])
        let result = try runAsOtherUser(arguments, mode: mode)
        #expect(result.code == 0, "\(result.errors)")
        #expect(try opget.files() == ["a"])
        #expect(stalling.requests.map { $0["Range"] } == [nil, "bytes=100000-"])
    }

    @Test(.enabled(if: geteuid() == 0), arguments: [0o600, 0o644] as [mode_t])
    func aFileThatAStickyDirectoryProtectsIsAFailureBeforeAnythingIsAsked(mode: mode_t) async throws {
        try opget.write("theirs", "a")
        #expect(chown(opget.directory.file("a").path, 1234, 1234) == 0)
        #expect(chmod(opget.directory.file("a").path, mode) == 0)
        for option in ["--overwrite", "-N"] {
            let result = try runAsOtherUser([option, address], mode: 0o1777)
            #expect(result.code == 3)
            #expect(result.errors.contains("belongs to another user, and its folder is sticky"))
        }
        #expect(server.requests.isEmpty)
        #expect(try opget.text("a") == "theirs")
        #expect(try opget.files() == ["a"])
        // Without the bit it can be replaced; and root can in any case.
        #expect(try runAsOtherUser(["--overwrite", address], mode: 0o777).code == 0)
        #expect(chown(opget.directory.file("a").path, 1234, 1234) == 0)
        #expect(chmod(opget.directory.url.path, 0o1777) == 0)
        #expect(try await opget("--overwrite", address).code == 0)
    }

    @Test func aTargetThatIsADirectoryIsAFilesFailure() async throws {
        try FileManager.default.createDirectory(
            at: opget.directory.file("a"),
            withIntermediateDirectories: false
        )
        let result = try await opget("--overwrite", address)
        #expect(result.code == 3)
        #expect(result.errors.contains("a is a directory."))
        #expect(try opget.files() == ["a"])
    }

    @Test func aTargetThatIsALinkIsNeverWrittenThrough() async throws {
        try opget.write("theirs", "other")
        let link = opget.directory.file("a")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "other")
        #expect(try await opget(address).code == 11)
        #expect(try await opget("-c", address).code == 11)
        #expect(try await opget("--overwrite", address).code == 3)
        #expect(try await opget("-N", address).code == 3)
        #expect(try opget.text("other") == "theirs")
        try FileManager.default.removeItem(at: opget.directory.file("other"))
        #expect(try await opget("--overwrite", address).code == 3)
        #expect(server.requests.isEmpty)
    }

    @Test func aPartialFileOfSomebodyElsesIsNotTouched() async throws {
        try opget.write("theirs", "a.part")
        #expect(try await opget(address).code == 0)
        #expect(try opget.files() == ["a", "a.part"])
        #expect(try opget.text("a.part") == "theirs")
    }

    @Test func aNameOfPartialFilesIsRefusedAndTheOthersAreFetched() async throws {
        let addresses = ["a.part", "b", "c.part.resume"].map { server.url(path: $0).absoluteString }
        let result = try await opget(addresses[0], addresses[1], addresses[2])
        #expect(result.code == 3)
        #expect(result.errors.contains("a.part is reserved for partial files"))
        #expect(result.errors.contains("choose another name with -o."))
        #expect(try opget.files() == ["b"])
        #expect(try await opget("-o", "d", addresses[0]).code == 0)
    }

    @Test func aNameThatLeadsUpwardsIsTheUsersOwnWord() async throws {
        #expect(try await opget("-d", "sub", "-o", "../x", address).code == 2)
        #expect(
            try await opget("-o", "sub/../../\(opget.directory.url.lastPathComponent)/x", address).code == 0
        )
        #expect(try opget.files().contains("x"))
    }
}
