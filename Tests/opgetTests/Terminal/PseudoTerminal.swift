import Foundation
import Glibc

@testable import OperationNetworkingTesting

/// A terminal without glass: opget runs in it, the test types and looks at the screen.
///
/// What runs in it is the leader of a session of its own, and this is the session's terminal.
final class PseudoTerminal: @unchecked Sendable {
    // @unchecked: `process` is set once, before another thread has the value; the rest is constant or in a
    // `Watched`.

    private struct State: Sendable {
        var screen: VirtualScreen
        var output: [UInt8] = []
        /// As waitpid(2) has it.
        var status: Int32?
        var isClosed = false
    }

    /// Closed when neither the test nor the thread that reads needs it.
    private final class Descriptor: Sendable {
        let number: Int32

        init(_ number: Int32) {
            self.number = number
        }

        deinit {
            close(number)
        }
    }

    private let descriptor: Descriptor
    private var master: Int32 { descriptor.number }
    private let state: Watched<State>
    private var process: pid_t = 0

    /// Starts `/bin/sh` with `script` and its `arguments` in a new terminal, in `directory`.
    init(
        _ script: String,
        _ arguments: [String],
        in directory: URL,
        columns: Int,
        rows: Int,
        environment: [String: String]
    ) throws {
        descriptor = Descriptor(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC))
        state = Watched(State(screen: VirtualScreen(columns: columns, rows: rows)))
        var (number, locked): (Int32, Int32) = (0, 0)
        guard descriptor.number >= 0, ioctl(descriptor.number, Self.numberRequest, &number) == 0,
            ioctl(descriptor.number, Self.lockRequest, &locked) == 0
        else { throw Self.failure("/dev/ptmx") }
        setSize(columns: columns, rows: rows)
        let command = ["sh", "-c", "cd \"$0\" && " + script, directory.path] + arguments
        process = try Self.spawn("/bin/sh", command, "/dev/pts/\(number)", environment)
        watch()
    }

    // TIOCGPTN and TIOCSPTLCK: macros that Swift does not import.
    private static let numberRequest: UInt = 0x8004_5430
    private static let lockRequest: UInt = 0x4004_5431

    deinit {
        state.withLock { if $0.status == nil { kill(process, SIGKILL) } }
    }

    private static func failure(_ what: String, _ code: Int32 = errno) -> NSError {
        NSError(domain: NSPOSIXErrorDomain, code: Int(code), userInfo: [NSLocalizedDescriptionKey: what])
    }

    /// As the leader of a session: the first terminal that it opens becomes the session's.
    private static func spawn(
        _ program: String,
        _ arguments: [String],
        _ terminal: String,
        _ environment: [String: String]
    ) throws -> pid_t {
        var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        // The parent of the tests may have signals ignored or blocked.
        var (all, none) = (sigset_t(), sigset_t())
        sigfillset(&all)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        // SETSID, which Swift does not import.
        let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | 0x80
        posix_spawnattr_setflags(&attributes, Int16(flags))
        posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        var process: pid_t = 0
        var words = arguments.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + variables { free(text) } }
        let code = posix_spawn(&process, program, &actions, &attributes, &words, &variables)
        guard code == 0 else { throw failure("posix_spawn", code) }
        return process
    }

    /// On threads of their own, since they wait.
    private func watch() {
        let (descriptor, process, state) = (descriptor, process, state)
        Thread.detachNewThread {
            var bytes = [UInt8](repeating: 0, count: 4096)
            // EIO: no process has the terminal open any more.
            while case let count = read(descriptor.number, &bytes, bytes.count), count > 0 {
                state.withLock {
                    $0.output += bytes.prefix(count)
                    $0.screen.write(bytes.prefix(count))
                }
            }
            state.withLock { $0.isClosed = true }
        }
        Thread.detachNewThread {
            var information = siginfo_t()
            while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
            // Collected under the lock: until then the number is its own, and may be killed.
            state.withLock { state in
                var status: Int32 = 0
                while waitpid(process, &status, 0) < 0, errno == EINTR {}
                state.status = status
            }
        }
    }

    private func setSize(columns: Int, rows: Int) {
        var size = winsize()
        (size.ws_col, size.ws_row) = (UInt16(columns), UInt16(rows))
        _ = ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    // MARK: - What the test does

    /// Presses these keys: `\u{3}` is Ctrl-C, `\u{1A}` Ctrl-Z, `\u{1C}` Ctrl-\.
    func type(_ keys: String) {
        type(octets: Array(keys.utf8))
    }

    /// For what is not UTF-8.
    func type(octets: [UInt8]) {
        write(master, octets, octets.count)
    }

    /// Sends a signal to what is in the foreground.
    func signal(_ number: Int32) {
        let group = tcgetpgrp(master)
        if group > 0 { kill(-group, number) }
    }

    /// Makes the window another size, while nothing is being written.
    func resize(columns: Int, rows: Int) {
        state.withLock { $0.screen.resize(columns: columns, rows: rows) }
        setSize(columns: columns, rows: rows)
    }

    // MARK: - What it sees

    /// Waits until the screen shows these lines, and no others.
    @discardableResult
    func wait(for lines: [String]) async throws -> VirtualScreen {
        try await wait("the screen was not\n" + lines.joined(separator: "\n")) { $0.lines == lines }
    }

    /// Waits until the screen is as `condition` says.
    @discardableResult
    func wait(
        _ complaint: String,
        until condition: @escaping @Sendable (VirtualScreen) -> Bool
    ) async throws -> VirtualScreen {
        try await state.wait(within: .waitingLimit) {
            "\(complaint)\nbut\n" + $0.screen.lines.joined(separator: "\n")
        } until: {
            condition($0.screen) ? $0.screen : nil
        }
    }

    /// Waits until `text` was written.
    func waitForOutput(containing text: String) async throws {
        try await state.wait(within: .waitingLimit) {
            "there was no \(text) in\n" + String(decoding: $0.output, as: UTF8.self)
        } until: {
            String(decoding: $0.output, as: UTF8.self).contains(text) ? () : nil
        }
    }

    /// Waits until what runs in it has ended and everything was read. Returns its exit code, minus the signal's number
    /// if one killed it.
    func end() async throws -> Int32 {
        let status = try await state.wait(within: .waitingLimit) {
            "it did not end; the screen is\n" + $0.screen.lines.joined(separator: "\n")
        } until: {
            $0.isClosed ? $0.status : nil
        }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }

    var screen: VirtualScreen { state.withLock { $0.screen } }

    /// Everything that was written, as it came.
    var output: String { String(decoding: state.withLock { $0.output }, as: UTF8.self) }

    /// Whether it edits lines and shows what is typed: as a shell wants to find it.
    var isOrdinary: Bool {
        var modes = termios()
        let wanted = tcflag_t(ICANON | ECHO)
        return tcgetattr(master, &modes) == 0 && modes.c_lflag & wanted == wanted
    }
}
