import Foundation
import Glibc
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct OutputFileTests {
    private let directory: TestDirectory

    init() throws {
        directory = try TestDirectory()
    }

    private func contents(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The `errno` that `body` ends with.
    private func code(_ body: () throws -> Void) -> Int32? {
        do {
            try body()
            return nil
        } catch {
            return (error as? SystemError)?.code
        }
    }

    private func outputFile(_ path: String) throws -> OutputFile {
        try #require(try OutputFile(path: path))
    }

    private func bytes(_ text: String) -> [UInt8] {
        Array(text.utf8)
    }

    private func write(_ bytes: [UInt8], to file: OutputFile) throws {
        var count = 0
        while count < bytes.count { count += try file.write(bytes.span.extracting(count...)) }
    }

    @Test func whatIsWrittenStandsInTheFileInOrder() throws {
        let path = directory.file("new")
        let file = try outputFile(path)
        try write(bytes("abc"), to: file)
        #expect(try file.write([UInt8]().span) == 0)
        try write(bytes("def"), to: file)
        try file.close()
        #expect(contents(path) == "abcdef")
    }

    @Test func openingEmptiesTheFile() throws {
        let path = directory.file("old")
        #expect(FileManager.default.createFile(atPath: path, contents: Data("0123456789".utf8)))
        let file = try outputFile(path)
        #expect(contents(path) == "")
        try write(bytes("abc"), to: file)
        #expect(contents(path) == "abc")
    }

    @Test func truncatingGoesBackToTheStart() throws {
        let path = directory.file("again")
        let file = try outputFile(path)
        try write(bytes("a longer text"), to: file)
        try file.truncate()
        try write(bytes("short"), to: file)
        try file.close()
        #expect(contents(path) == "short")
    }

    @Test func aLargeBodyIsWrittenWhole() throws {
        let path = directory.file("large")
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let file = try outputFile(path)
        try write(bytes, to: file)
        try file.close()
        #expect(FileManager.default.contents(atPath: path) == Data(bytes))
    }

    @Test func aFIFOWithoutAReaderIsNotOpenedAndNotWaitedFor() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            let directory = try TestDirectory()
            let path = directory.file("fifo")
            guard mkfifo(path, 0o600) == 0 else { exit(2) }
            guard try OutputFile(path: path) == nil else { exit(3) }
        }
    }

    @Test func aFIFOTakesWhatItHasRoomForAndThenNothing() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            let directory = try TestDirectory()
            let path = directory.file("fifo")
            guard mkfifo(path, 0o600) == 0 else { exit(2) }
            let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            guard let file = try OutputFile(path: path), !file.canBeEmptied else { exit(3) }
            let bytes = [UInt8](repeating: 7, count: 4096)
            var count = 0
            while case let written = try file.write(bytes.span), written > 0 { count += written }
            guard count >= 4096, file.pollableDescriptor != nil else { exit(4) }

            var buffer = [UInt8](repeating: 0, count: 4096)
            guard read(reader, &buffer, 4096) == 4096, buffer == bytes else { exit(5) }
            guard try file.write(bytes.span) > 0 else { exit(6) }
        }
    }

    /// In a process of its own, which the signal would end.
    @Test func aFIFOWhoseReaderHasGoneIsAnErrorAndNoSignal() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            let directory = try TestDirectory()
            let path = directory.file("fifo")
            guard mkfifo(path, 0o600) == 0 else { exit(2) }
            let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            guard let file = try OutputFile(path: path) else { exit(3) }
            close(reader)
            do {
                _ = try file.write([UInt8](repeating: 7, count: 10).span)
                exit(4)
            } catch let error as SystemError where error.code == EPIPE {}
            var blocked = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &blocked)
            var pending = sigset_t()
            sigpending(&pending)
            guard sigismember(&blocked, SIGPIPE) == 0, sigismember(&pending, SIGPIPE) == 0 else { exit(5) }
        }
    }

    /// In a process of its own, whose main thread the signal would end.
    @Test func aFileBeyondTheLimitOfTheProcessIsAnErrorAndNoSignal() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            let directory = try TestDirectory()
            // Threads of a pool mask it.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGXFSZ)
            pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            var limit = rlimit(rlim_cur: 1 << 20, rlim_max: 1 << 20)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let bytes = [UInt8](repeating: 7, count: 3 << 19)
            let folder = try DownloadFolder(path: directory.path)
            let file = try OutputFile(path: directory.file("output"))
            let part = try folder.create("part")
            let writes: [() throws -> Void] = [
                { for _ in 0..<3 { _ = try file?.write(bytes.span) } },
                { try part?.write(bytes.span, at: 0) },
                {
                    try part?.allocate(3 << 20, at: 0)
                    // Only some file systems refuse that.
                    throw SystemError(SystemError.tooLarge, "allowed")
                },
                { try PrivateFile.replace(path: directory.file("private"), with: bytes.span) },
            ]
            for (number, write) in writes.enumerated() {
                do {
                    try write()
                    exit(10 + Int32(number))
                } catch let error as SystemError where error.code == EFBIG {}
            }
            // What fitted is there.
            guard try part?.status.size == 1 << 20 else { exit(3) }
            var blocked = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &blocked)
            var pending = sigset_t()
            sigpending(&pending)
            guard sigismember(&blocked, SIGXFSZ) == 0, sigismember(&pending, SIGXFSZ) == 0 else { exit(5) }
        }
    }

    @Test func aPipeSignalThatWaitedBeforeStillWaits() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            var pipe = sigset_t()
            sigemptyset(&pipe)
            sigaddset(&pipe, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &pipe, nil)
            pthread_kill(pthread_self(), SIGPIPE)
            WriteSignals.heldBack {}
            var pending = sigset_t()
            sigpending(&pending)
            guard sigismember(&pending, SIGPIPE) == 1 else { exit(2) }
        }
    }

    // MARK: - Claims

    @Test func aFileIsOpenedByOneAtATime() throws {
        let path = directory.file("file")
        let link = directory.file("link")
        let file = try outputFile(path)
        try write(bytes("abc"), to: file)
        #expect(link.withCString { Glibc.link(path, $0) } == 0)
        for name in [path, link] {
            #expect(throws: FileClaim.Taken.self) { try OutputFile(path: name) }
            #expect(contents(path) == "abc")
        }
        try write(bytes("def"), to: file)
        #expect(contents(link) == "abcdef")
        try file.close()
        try outputFile(link).close()
        #expect(contents(path) == "")
    }

    @Test func aFileThatIsReleasedIsGivenBack() throws {
        let path = directory.file("file")
        do { try write(bytes("abc"), to: try outputFile(path)) }
        try write(bytes("def"), to: try outputFile(path))
        #expect(contents(path) == "def")
    }

    @Test func aPartialFileAndAnOutputFileKeepEachOtherOut() throws {
        let folder = try DownloadFolder(path: directory.path)
        let part = try #require(try folder.create("part"))
        #expect(try part.lock() == .taken)
        #expect(throws: FileClaim.Taken.self) { try OutputFile(path: directory.file("part")) }
        part.close()
        let file = try outputFile(directory.file("part"))
        let again = try #require(try folder.open("part"))
        #expect(try again.lock() == .held)
        try file.close()
        #expect(try again.lock() == .taken)
        #expect(try again.lock() == .taken)
    }

    /// One who replaces the file claims the old one meanwhile. What is opened then is never one without a name.
    @Test func whatIsOpenedIsWhatHasTheName() async throws {
        let path = directory.file("file")
        try outputFile(path).close()
        let (hasBegun, isDone) = (Locked(false), Locked(false))
        let replacing = Task.detached { [directory] in
            let folder = try DownloadFolder(path: directory.path)
            var number = 0
            while !isDone.withLock({ $0 }) {
                number += 1
                _ = try #require(try folder.create("new \(number)"))
                // Open until the claim ends, or a file of another test could get its inode.
                let old = try folder.identify("file")
                guard let claim = FileClaim(try old.status.identity) else {
                    try folder.remove("new \(number)")
                    continue
                }
                try withExtendedLifetime(old) {
                    try withExtendedLifetime(claim) { try folder.rename("new \(number)", to: "file") }
                }
                hasBegun.withLock { $0 = true }
            }
            return number
        }
        // Other tests may have all threads.
        try await eventually { hasBegun.withLock { $0 } }
        var opened = 0
        for round in 0..<2000 {
            guard let file = try? outputFile(path) else { continue }
            try write(bytes("\(round)"), to: file)
            #expect(contents(path) == "\(round)")
            try file.close()
            opened += 1
        }
        isDone.withLock { $0 = true }
        #expect(try await replacing.value > 0)
        #expect(opened > 0)
    }

    @Test func aSocketIsRefused() throws {
        let path = directory.file("s")
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        try #require(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
        #expect(code { _ = try OutputFile(path: path) } == ENXIO)
    }

    @Test func aFullDiskIsAnErrorOfTheWrite() throws {
        let file = try outputFile("/dev/full")
        try file.truncate()
        #expect(code { try write(bytes("a"), to: file) } == ENOSPC)
    }

    @Test func aDeviceTakesEverything() throws {
        let file = try outputFile("/dev/null")
        try file.truncate()
        try write([UInt8](repeating: 1, count: 100_000), to: file)
        try file.close()
    }

    /// The bytes are on a screen, or on their way.
    @Test func aTerminalCannotBeTruncated() throws {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(master) }
        var (number, locked): (Int32, Int32) = (0, 0)
        // TIOCGPTN and TIOCSPTLCK: macros that Swift does not import.
        try #require(ioctl(master, 0x8004_5430, &number) == 0 && ioctl(master, 0x4004_5431, &locked) == 0)
        let file = try outputFile("/dev/pts/\(number)")
        try write(bytes("abc"), to: file)
        #expect(!file.canBeEmptied)
        #expect(code { try file.truncate() } == ESPIPE)
        var buffer = [UInt8](repeating: 0, count: 10)
        #expect(read(master, &buffer, 10) == 3)
        for path in ["/dev/null", "/dev/zero", "/dev/full", directory.file("file")] {
            #expect(try outputFile(path).canBeEmptied, "\(path)")
        }
    }

    @Test func aDirectoryAndAMissingOneAreErrorsThatNameThePath() throws {
        #expect(code { _ = try OutputFile(path: directory.path) } == EISDIR)
        let missing = directory.file("no/such/directory")
        let error = #expect(throws: SystemError.self) { try OutputFile(path: missing) }
        #expect(error?.description == "open \(missing): No such file or directory (errno 2)")
    }

    @Test func closingTwiceDoesNothingMore() throws {
        let file = try outputFile(directory.file("closed"))
        try file.close()
        try file.close()
        #expect(code { try write(bytes("a"), to: file) } == EBADF)
    }

    @Test func theDescriptorIsCloseOnExec() throws {
        let path = directory.file("private")
        try withExtendedLifetime(outputFile(path)) {
            let links = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            let numbers = links.compactMap { Int32($0) }.filter { number in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)"))
                    == path
            }
            #expect(numbers.count == 1)
            for number in numbers { #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0) }
        }
    }
}
