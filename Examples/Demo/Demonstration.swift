import Foundation
import OperationNetworkingTesting

/// The program behind `make demo`: a batch of downloads, paused half-way, resumed by range, and verified.
///
/// The server runs in this process and generates its files, so only `sha256sum` is needed.
@main
enum Demonstration {
    /// Exits with 0 if every file is correct, otherwise with 1 and the reasons on standard error.
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

    /// Runs all steps, and removes the temporary directory before it returns.
    ///
    /// - Returns: the problems, one sentence each.
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
