import Foundation
import OperationNetworkingTesting

/// The program behind `make demo`: a batch of downloads, paused half-way, continued by range, and checked.
///
/// The server is in this process and makes its files up, so nothing outside is needed but `sha256sum`.
@main
enum Demonstration {
    /// Exits with 0 when every byte is where it belongs, else with 1 and the reasons on standard error.
    static func main() async {
        do {
            let problems = try await run()
            guard !problems.isEmpty else { return }
            for problem in problems { report(problem) }
        } catch {
            report("\(error)")
        }
        exit(1)
    }

    /// Plays all acts; the temporary directory is gone when it returns.
    ///
    /// - Returns: what went wrong, a sentence each.
    private static func run() async throws -> [String] {
        let start = ContinuousClock.now
        let screen = Screen()
        let directory = try TemporaryDirectory()
        let server = try FileServer(SampleFile.all, bytesPerSecond: 3 << 20)
        defer { server.stop() }
        let batch = DownloadBatch(of: server.files, from: server, to: directory)

        var show = Show(screen: screen, server: server, batch: batch, directory: directory)
        try await show.download()
        try show.checkSums()
        show.summarize(after: start.duration(to: .now))
        return show.problems
    }

    private static func report(_ problem: String) {
        FileHandle.standardError.write(Data("Wrong: \(problem)\n".utf8))
    }
}
