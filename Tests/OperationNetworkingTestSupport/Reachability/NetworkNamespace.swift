import Dispatch
import Foundation
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

/// A network of a test's own, with a shell in it: a namespace, which ends with this object, and all that runs
/// in it with it. It has a loopback interface, which is down.
final class NetworkNamespace: Sendable {
    struct Failure: Error {
        let explanation: String
    }

    /// Whether this process may have one, with interfaces in pairs: as root, or where users may have
    /// namespaces.
    static let isPermitted: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            arguments + ["-ec", "mount -t sysfs sysfs /sys; ip link add eth7 type veth peer name far"]
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// `/sys` is that of the namespace: it says what a device is.
    private static let arguments =
        ["unshare"] + (geteuid() == 0 ? [] : ["--map-root-user"])
        + ["--net", "--mount-proc", "--pid", "--fork", "--kill-child", "sh"]

    private let process = Process()
    private let input = Pipe()
    private let lines = Recorder<String>()
    private let scripts = Locked(0)
    /// The number of lines of each kind that were taken.
    private let taken = Locked<[String: Int]>([:])

    init() throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = Self.arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let lines = lines
        Thread.detachNewThread {
            var rest = Data()
            while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
                rest += data
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    lines.append(String(decoding: rest[..<end], as: UTF8.self))
                    rest = Data(rest[(end + 1)...])
                }
            }
        }
    }

    deinit {
        // The shell ends with its input. A failure cannot be reported any more.
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// The program that prints what a manager reports.
    static var probe: URL {
        get throws {
            try #require(builtProgram("OperationNetworkingReachabilityProbe"), "There is no probe")
        }
    }

    // MARK: - Commands

    /// Runs a shell's script to its end; one of its commands that fails is an error.
    func run(_ script: String) async throws {
        let number = scripts.withLock { number in
            number += 1
            return number
        }
        try input.fileHandleForWriting.write(
            contentsOf: Data("(set -e; \(script)) 2>&1; echo \"=\(number)= $?\"\n".utf8)
        )
        let end = try await line { $0.hasPrefix("=\(number)= ") }
        guard end.hasSuffix(" 0") else {
            throw Failure(explanation: "\(script): \(lines.elements.suffix(5))")
        }
    }

    /// Has a program run beside, until it ends or the namespace does.
    func start(_ program: URL, _ arguments: [String]) async throws {
        let words = ([program.path] + arguments).map { "'\($0)'" }.joined(separator: " ")
        try await run("\(words) &")
    }

    // MARK: - Lines

    /// The rest of the next line that begins with this word. Programs of the namespace write them.
    func next(_ word: String) async throws -> String {
        let number = taken.withLock { taken in
            defer { taken[word, default: 0] += 1 }
            return taken[word, default: 0]
        }
        var count = 0
        while true {
            let all = try await lines.wait(count: count + 1)
            let found = all.filter { $0.hasPrefix("\(word) ") }
            if found.count > number { return String(found[number].dropFirst(word.count + 1)) }
            count = all.count
        }
    }

    /// The lines of this kind that were not taken yet.
    func rest(_ word: String) -> [String] {
        Array(lines.elements.filter { $0.hasPrefix("\(word) ") }.dropFirst(taken.withLock { $0[word] ?? 0 }))
    }

    private func line(where isIt: (String) -> Bool) async throws -> String {
        var count = 0
        while true {
            let all = try await lines.wait(count: count + 1)
            if let found = all.first(where: isIt) { return found }
            count = all.count
        }
    }
}
