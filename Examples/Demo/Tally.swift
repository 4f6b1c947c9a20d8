/// The progress of the batch: the sum of its events.
struct Tally {
    /// The received bytes of each file.
    private(set) var received: [Int]
    /// The files that are being downloaded.
    private(set) var running: Set<Int> = []
    /// The number of complete files.
    private(set) var filesDone = 0
    /// Bytes of all files together.
    let bytesExpected: Int

    init(of files: [SampleFile]) {
        received = files.map { _ in 0 }
        bytesExpected = files.reduce(0) { $0 + $1.length }
    }

    var fileCount: Int { received.count }

    /// The received bytes of all files together.
    var bytesReceived: Int { received.reduce(0, +) }

    /// From 0 to 1.
    var fraction: Double { Double(bytesReceived) / Double(bytesExpected) }

    mutating func take(_ event: DownloadBatch.Event) {
        switch event {
        case .received(let file, let bytes): received[file] = bytes
        case .runs(let file, true): running.insert(file)
        case .runs(let file, false): running.remove(file)
        case .done(let files): filesDone = files
        }
    }
}
