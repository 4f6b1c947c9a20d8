import Foundation
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import opget

/// Files that another program of this user saved from a hostile server, under the names of partial files.
@Suite(.serialized) struct PlantedFileTests {
    private let opget: Opget
    private let server: ScriptedServer
    private let body = String(repeating: "0123456789", count: 20_000)
    private let hostile = String(repeating: "9876543210", count: 20_000)

    init() throws {
        opget = try Opget()
        server = try ScriptedServer(
            serving: Representation(.text(body), entityTag: .strong("v1")),
            answers: [.currentRepresentation.breaking(after: 10_000), .currentRepresentation]
        )
    }

    private var address: String { server.url(path: "a").absoluteString }

    /// What is wrong with how a checkpoint names its part.
    enum Flaw: CaseIterable {
        case inode, secondOfBirth, nanosecondOfBirth, noBirth

        /// The JSON of a checkpoint, with the flaw.
        func spoil(_ json: String) throws -> String {
            let spoiled =
                switch self {
                case .inode: json.replacing(/"inode":(\d+)/) { "\"inode\":\(Self.next($0.1))" }
                case .secondOfBirth: json.replacing(/"seconds":(\d+)/) { "\"seconds\":\(Self.next($0.1))" }
                case .nanosecondOfBirth:
                    json.replacing(/"nanoseconds":(\d+)/) { "\"nanoseconds\":\(Self.next($0.1))" }
                case .noBirth: json.replacing(/"birth":\{.*?\},/, with: "")
                }
            try #require(spoiled != json)
            return spoiled
        }

        private static func next(_ number: Substring) -> UInt64 { (UInt64(number) ?? 0) + 1 }
    }

    /// Leaves the first bytes of another body, with a checkpoint that is right but for the flaw. opget has begun both
    /// files, so the request, the mark and the permissions are right as well.
    private func plant(_ count: Int, _ flaw: Flaw?) async throws {
        #expect(try await opget("--retry", "0", address).code == 4)
        let part = String(hostile.prefix(count))
        let block = Data(part.utf8.suffix(65_536))
        let digest = try FileDigest.of(block, algorithm: .sha256).hex
        var json = String(try opget.text("a.part.resume").drop { $0 != "\n" }.dropFirst())
        json.replace(
            /"blocks":\[.*?\]/,
            with: "\"blocks\":[{\"digest\":\"\(digest)\",\"end\":\(count),\"length\":\(block.count)}]"
        )
        json.replace(/"ranges":\[\[.*?\]\]/, with: "\"ranges\":[[0,\(count)]]")
        if let flaw { json = try flaw.spoil(json) }
        let checksum = try FileDigest.of(Data(json.utf8), algorithm: .sha256).hex
        try overwrite("a.part", part)
        try overwrite("a.part.resume", "OperationNetworking-download 4 \(checksum)\n" + json)
    }

    /// Replaces the bytes of a file, which remains the same file.
    private func overwrite(_ name: String, _ text: String) throws {
        let file = try FileHandle(forWritingTo: opget.directory.file(name))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }

    /// Shows that nothing else in a plant keeps opget from it: only a program of this user that changes opget's own
    /// files comes as far, and it could change the complete file as well.
    @Test(arguments: [100_000, 200_000])
    func withoutAFlawItIsContinued(count: Int) async throws {
        try await plant(count, nil)
        let result = try await opget(address)
        #expect(result.code == 0)
        #expect(try opget.text("a") == hostile.prefix(count) + body.dropFirst(count))
        #expect(
            server.requests.map { $0["Range"] } == (count < body.count ? [nil, "bytes=\(count)-"] : [nil])
        )
        #expect(try opget.files() == ["a"])
    }

    @Test(arguments: Flaw.allCases, [100_000, 200_000])
    func nothingOfItGetsIntoTheFile(flaw: Flaw, count: Int) async throws {
        try await plant(count, flaw)
        let result = try await opget(address)
        #expect(result.code == 0)
        #expect(result.errors.contains("started over because nothing proves"))
        #expect(try opget.text("a") == body)
        #expect(server.requests.map { $0["Range"] } == [nil, nil])
        // It is not ours to remove.
        #expect(try opget.files() == ["a", "a.part", "a.part.resume"])
        #expect(try opget.text("a.part") == hostile.prefix(count))
    }

    @Test func aPartThatOthersMayWriteIsNotGoneOnWith() async throws {
        let server = try ScriptedServer(
            serving: Representation(.text(body), entityTag: .strong("v1")),
            answers: [.currentRepresentation.breaking(after: 10_000), .currentRepresentation]
        )
        let address = server.url(path: "a").absoluteString
        #expect(try await opget("--retry", "0", address).code == 4)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o666],
            ofItemAtPath: opget.directory.file("a.part").path
        )
        let result = try await opget(address)
        #expect(result.code == 0)
        #expect(result.errors.contains("started over because nothing proves"))
        #expect(server.requests.map { $0["Range"] } == [nil, nil])
        #expect(try opget.text("a") == body)
    }

    // MARK: - A file system that reports no time of birth

    /// Whether this process may have a disk of its own.
    private static let isDiskPermitted = (try? onRAMDisk("exit 7", [])) == 7

    /// Runs a shell's command where `/mnt` is a ramfs, for this command only. It reports no time of birth.
    private static func onRAMDisk(_ script: String, _ arguments: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let namespaces = geteuid() == 0 ? ["--mount"] : ["--map-root-user", "--mount"]
        let mounting = "mount -t ramfs none /mnt || exit 99; "
        process.arguments = ["unshare"] + namespaces + ["sh", "-c", mounting + script, "sh"] + arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    @Test(.enabled(if: isDiskPermitted), arguments: [100_000, 200_000])
    func thereNothingOfItGetsIntoTheFileEither(count: Int) async throws {
        try await plant(count, .noBirth)
        try opget.write(body, "body")
        let script = """
            umask 077; cp "$3"/a.part "$3"/a.part.resume /mnt; "$1" -q -d /mnt "$2" || exit 98
            cmp /mnt/a "$3"/body || exit 97; exit 5
            """
        let arguments = [Opget.binary.path, address, opget.directory.url.path]
        #expect(try Self.onRAMDisk(script, arguments) == 5)
        #expect(server.requests.map { $0["Range"] } == [nil, nil])
    }

    @Test(.enabled(if: isDiskPermitted)) func thereWhatAKilledRunLeftStartsOverAndSaysWhy() throws {
        let gate = Gate()
        let server = try ScriptedServer(
            serving: Representation(.text(body), entityTag: .strong("v1")),
            answers: [.currentRepresentation.held(after: .body(10_000), by: gate), .currentRepresentation]
        )
        try opget.write(body, "body")
        let script = """
            "$1" -q -d /mnt "$2" & while ! test -s /mnt/a.part; do :; done; kill -9 $!; wait $!
            "$1" -d /mnt "$2" 2>"$3"/said || exit 97
            grep -q "nothing proves" "$3"/said || exit 95; cmp /mnt/a "$3"/body || exit 96; exit 5
            """
        let address = server.url(path: "a").absoluteString
        let arguments = [Opget.binary.path, address, opget.directory.url.path]
        #expect(try Self.onRAMDisk(script, arguments) == 5)
        #expect(server.requests.map { $0["Range"] } == [nil, nil])
        gate.open()
    }

    /// Each run would leave one more part that no later one uses.
    @Test(.enabled(if: isDiskPermitted)) func thereNothingIsKeptAndTheRunSaysSo() throws {
        let server = try ScriptedServer(
            serving: Representation(.text(body), entityTag: .strong("v1")),
            answers: [.currentRepresentation.breaking(after: 10_000), .currentRepresentation]
        )
        try opget.write(body, "body")
        let script = """
            "$1" --retry 0 -d /mnt "$2" 2>"$3"/said; test $? = 4 || exit 98
            grep -q "is not kept: the file system" "$3"/said || exit 95; grep -q "resumes" "$3"/said && exit 94
            test -z "$(ls /mnt)" || exit 93
            "$1" -q -d /mnt "$2" || exit 97; cmp /mnt/a "$3"/body || exit 96; exit 5
            """
        let address = server.url(path: "a").absoluteString
        let arguments = [Opget.binary.path, address, opget.directory.url.path]
        #expect(try Self.onRAMDisk(script, arguments) == 5)
        #expect(server.requests.map { $0["Range"] } == [nil, nil])
    }
}
