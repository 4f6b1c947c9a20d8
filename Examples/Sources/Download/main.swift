// The example stands as the documentation has it:
// swift-format-ignore-file

import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking

// Downloads a file, and resumes where an earlier run stopped:
//
//     Download http://127.0.0.1:8080/big.iso big.iso sha256:0123...

guard CommandLine.arguments.count == 4, let big = URL(string: CommandLine.arguments[1]),
    let digest = FileDigest(CommandLine.arguments[3])
else {
    FileHandle.standardError.write(Data("usage: Download URL FILE DIGEST\n".utf8))
    exit(64)
}
let file = URL(fileURLWithPath: CommandLine.arguments[2])
let queue = OperationQueue()

do {
    // MARK: Example

    let download = DownloadOperation(request: URLRequest(url: big), to: file)
    download.expectedDigests = [digest]
    queue.addOperation(download)
    let saved = try await download.savedFile    // its URL
    print(download.downloadedFile?.proof ?? .unverifiable, download.downloadedFile?.bytesRecovered ?? 0)

    // MARK: End of example

    print(saved.lastPathComponent)
} catch {
    FileHandle.standardError.write(Data("\(big.absoluteString): \(error)\n".utf8))
    exit(1)
}
