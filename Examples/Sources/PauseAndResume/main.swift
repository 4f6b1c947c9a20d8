// The example stands as the documentation has it:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// Downloads a file, pauses twice, and resumes:
//
//     PauseAndResume http://127.0.0.1:8080/big.iso big.iso

guard CommandLine.arguments.count == 3, let big = URL(string: CommandLine.arguments[1]) else {
    FileHandle.standardError.write(Data("usage: PauseAndResume URL FILE\n".utf8))
    exit(64)
}
let file = URL(fileURLWithPath: CommandLine.arguments[2])
let queue = OperationQueue()

// The sample pauses before anything was received. This task pauses once more after some bytes have arrived: it
// runs while the sample waits, and lets the queue start the download.
queue.isSuspended = true
Task {
    for case let download as HTTPRequestOperation in queue.operations {
        download.setDownloadProgress { _, total, expected in
            guard total > 0, total < expected else { return }
            download.setDownloadProgress(nil)
            download.pause()
            print("paused at \(total) of \(expected) bytes")
            download.resume()
        }
    }
    queue.isSuspended = false
}

do {
    // MARK: Example

    let download = HTTPRequestOperation(request: URLRequest(url: big))
    download.outputFile = file
    queue.addOperation(download)
    download.pause()        // download.isPaused
    download.resume()       // Range and If-Range: the rest, and only of the same file
    _ = try await download.value

    // MARK: End of example

    print("\(file.lastPathComponent): \(download.response?.statusCode ?? 0)")
    print("not fetched twice: \(download.metrics?.bytesKept ?? 0) bytes")
} catch {
    FileHandle.standardError.write(Data("\(big.absoluteString): \(error)\n".utf8))
    exit(1)
}
