// The example stands as the documentation has it:
// swift-format-ignore-file

import Foundation
import OperationNetworking

// Saves any number of files in a folder, three at a time from each host. If it is stopped and run
// again with the same folder, it resumes:
//
//     Downloads /tmp/files http://127.0.0.1:8080/1 http://127.0.0.1:8080/2 http://127.0.0.1:8080/3
//     Downloads /tmp/files

let arguments = CommandLine.arguments.dropFirst()
let urls = arguments.dropFirst().compactMap { URL(string: $0) }
guard let path = arguments.first, urls.count == arguments.count - 1 else {
    FileHandle.standardError.write(Data("usage: Downloads FOLDER [URL...]\n".utf8))
    exit(64)
}
let folder = URL(fileURLWithPath: path, isDirectory: true)
let manager = OperationManager()

let journal = folder.appendingPathComponent("batch.journal")

do {
    let batch: DownloadBatch
    if urls.isEmpty {
        batch = try manager.downloads(resuming: journal)
    } else {
        // MARK: Example

        let items = urls.map { url in
            DownloadItem(url: url, destination: folder.appendingPathComponent(url.lastPathComponent))
        }
        var options = DownloadBatch.Options()
        options.maximumActiveDownloadsPerHost = 3
        batch = try manager.downloads(items, options: options, journal: journal)

        // MARK: End of example
    }
    var failures = 0
    for (item, result) in zip(batch.items, await batch.results()) {
        let name = item.destination.lastPathComponent
        switch result {
        case .success(let download):
            print("\(name): \(download.length) bytes, \(download.bytesRecovered) of them from before")
        case .failure(let error):
            failures += 1
            FileHandle.standardError.write(Data("\(name): \(error)\n".utf8))
        }
    }
    exit(failures == 0 ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("The downloads cannot begin: \(error)\n".utf8))
    exit(1)
}
