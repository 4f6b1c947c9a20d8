import Dispatch
import Foundation
import OperationNetworkingCrashTesting

/// The end of the program by a signal: its processes are ended and its files removed first.
final class Interruption {
    private let sources: [any DispatchSourceSignal]

    /// From now on.
    init(removing directory: URL) {
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                ChildProcesses.shared.end()
                // A failure cannot be reported any more.
                try? FileManager.default.removeItem(at: directory)
                // Not exit(3): threads still run, and must not see what it takes apart.
                _exit(128 + number)
            }
            source.resume()
            return source
        }
    }

    /// No longer.
    func cancel() {
        for source in sources { source.cancel() }
    }
}
