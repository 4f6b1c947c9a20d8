import Foundation
import Glibc

/// `Tests/Servers/slow-resolver/slow_resolver.c`, a name server that does not answer: for exit tests, because a library
/// can stand before libc's `getaddrinfo` only from the start of a process.
enum SlowResolver {
    /// In the test itself: from now on exit tests have the library. Compiles it at the first call.
    static func preload() throws {
        try library.get()
    }

    /// In the exit test: waits until `count` look-ups have come; false if they do not.
    static func wait(for count: Int32) -> Bool {
        typealias Wait = @convention(c) (Int32) -> Int32
        guard let function = dlsym(nil, "slow_resolver_wait") else { return false }
        return unsafeBitCast(function, to: Wait.self)(count) >= count
    }

    /// In the exit test: lets every look-up end without an address.
    static func open() {
        guard let function = dlsym(nil, "slow_resolver_open") else { return }
        unsafeBitCast(function, to: (@convention(c) () -> Void).self)()
    }

    /// Set once and never taken back: changing the environment again could pull it away under another thread's feet.
    /// No other program minds.
    private static let library = Result<Void, any Error> {
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Servers/slow-resolver/slow_resolver.c").standardizedFileURL
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        compiler.arguments = ["cc", "-shared", "-fPIC", "-o", path, source.path, "-ldl", "-lpthread"]
        try compiler.run()
        compiler.waitUntilExit()
        guard compiler.terminationStatus == 0 else { throw TestFailure("\(source.path) does not compile") }
        setenv("LD_PRELOAD", path, 1)
        atexit { unlink(SlowResolver.path) }
    }

    private static let path = NSTemporaryDirectory() + "slow_resolver-\(getpid()).so"
}
