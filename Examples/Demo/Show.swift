import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting

/// The steps of the demonstration, in order, and the problems that occurred.
struct Show {
    /// A download that was interrupted by the pause.
    private struct Interruption {
        let file: SampleFile
        let download: HTTPRequestOperation
        /// The number of received bytes.
        let length: Int
    }

    let screen: Screen
    let server: FileServer
    let batch: DownloadBatch
    let directory: TemporaryDirectory

    private(set) var problems: [String] = []
    private var interruptions: [Interruption] = []
    private var nameOfOverwritten = ""

    init(screen: Screen, server: FileServer, batch: DownloadBatch, directory: TemporaryDirectory) {
        self.screen = screen
        self.server = server
        self.batch = batch
        self.directory = directory
    }

    // MARK: - Steps

    /// Runs the batch until half of it has been received.
    mutating func download() async throws {
        var tally = Tally(of: server.files)
        var wasPaused = false
        screen.title("A batch: \(tally.fileCount) files, \(ByteCount(tally.bytesExpected)), 4 at a time")
        batch.start()
        for await event in batch.events {
            tally.take(event)
            guard !wasPaused, tally.fraction >= 0.5 else {
                screen.draw(tally)
                continue
            }
            wasPaused = true
            screen.leave(tally)
            try await pause(tally)
            try await resume()
        }
        screen.leave(tally)
        for (file, download) in zip(server.files, batch.downloads) {
            if let error = download.error { problems.append("\(file.name) failed: \(error)") }
        }
        checkHowTheyWentOn()
    }

    /// Pauses the batch, shows that nothing is received, and overwrites a file on the server.
    private mutating func pause(_ tally: Tally) async throws {
        batch.pause()
        try await server.waitUntilQuiet()
        interruptions = zip(server.files, batch.downloads).compactMap { file, download in
            guard download.isPaused, let length = lengthOnDisk(of: file), length > 0 else { return nil }
            return Interruption(file: file, download: download, length: length)
        }
        screen.title("Paused halfway: the received bytes are kept")
        screen.table(
            interruptions.map { interruption in
                let (length, whole) = (interruption.length, interruption.file.length)
                return [interruption.file.name, "\(ByteCount(length)) of \(ByteCount(whole))"]
            }
        )

        let bytesSent = server.bytesSent
        try await Task.sleep(for: .seconds(1))
        screen.line("In the next second the server sent \(server.bytesSent - bytesSent) bytes.")
        if server.bytesSent != bytesSent { problems.append("The server sent bytes during the pause.") }

        guard let longest = interruptions.max(by: { $0.length < $1.length }) else {
            problems.append("Nothing was running when the batch was paused.")
            return
        }
        nameOfOverwritten = longest.file.name
        server.overwrite(nameOfOverwritten)
        screen.line("Meanwhile \(nameOfOverwritten) is overwritten on the server.")
    }

    /// Resumes the batch, and shows the requests to the server.
    private mutating func resume() async throws {
        screen.title("Resumed: the requests to the server")
        let count = server.requests.count
        batch.resume()
        let requests = try await server.requests(for: interruptions.map(\.file.name), after: count)
        var rows: [[String]] = []
        for (interruption, request) in zip(interruptions, requests) {
            let (range, condition) = (request["Range"] ?? "none", request["If-Range"] ?? "none")
            rows.append([interruption.file.name, "Range: \(range)", "If-Range: \(condition)"])
            if range != "bytes=\(interruption.length)-" || condition != "\"\(interruption.file.entityTag)\"" {
                problems.append(
                    "\(interruption.file.name) was resumed with range \(range) if it is \(condition)."
                )
            }
        }
        screen.table(rows)
        screen.title("The rest")
    }

    /// Compares every file with the current content on the server.
    mutating func checkSums() throws {
        screen.title("SHA-256 of every file, compared with the server's by sha256sum")
        let (lines, areRight) = try Checksums.check(server.files, in: directory)
        // Half of them on each line, where there is room.
        screen.table(screen.columns < 40 ? lines.map { [$0] } : lines.inPairs)
        if !areRight || lines.count != server.files.count {
            problems.append("A file differs from the one on the server.")
        }
    }

    /// Prints the totals.
    func summarize(after duration: Duration) {
        let metrics = batch.downloads.compactMap(\.metrics)
        let bytes = server.files.reduce(0) { $0 + $1.length }
        let kept = metrics.reduce(0) { $0 + Int($1.bytesKept) }
        let received = metrics.reduce(0) { $0 + Int($1.bytesReceived) }
        screen.title("Summary")
        screen.table([
            ["files", "\(server.files.count), \(ByteCount(bytes))"],
            ["served", "\(ByteCount(server.bytesSent)) in \(server.requests.count) answers"],
            ["not fetched twice", "\(ByteCount(kept)), thanks to ranges"],
            ["discarded", "\(ByteCount(received - bytes)), of the file that changed"],
            ["lost in transit", "\(ByteCount(server.bytesSent - received)), at the pause"],
            ["connections", "\(server.connectionCount)"],
            ["time", String(format: "%.1f s", duration / .seconds(1))],
        ])
    }

    // MARK: - Helpers

    /// The overwritten file has to be fetched again, all others by range.
    private mutating func checkHowTheyWentOn() {
        for interruption in interruptions {
            let isOverwritten = interruption.file.name == nameOfOverwritten
            let status = interruption.download.response?.statusCode ?? 0
            let kept = Int(interruption.download.metrics?.bytesKept ?? 0)
            guard status == (isOverwritten ? 200 : 206), kept == (isOverwritten ? 0 : interruption.length)
            else {
                problems.append(
                    "\(interruption.file.name) was resumed with status \(status), keeping \(kept) bytes."
                )
                continue
            }
            if isOverwritten {
                screen.line("\(nameOfOverwritten) had changed: discarded, and fetched again.")
            }
        }
    }

    private func lengthOnDisk(of file: SampleFile) -> Int? {
        try? directory.file(file.name).resourceValues(forKeys: [.fileSizeKey]).fileSize
    }
}

extension [String] {
    /// Returns the rows in pairs, with the second half beside the first.
    fileprivate var inPairs: [[String]] {
        let half = (count + 1) / 2
        return prefix(half).enumerated().map { index, text in
            [text] + dropFirst(half + index).prefix(1)
        }
    }
}
