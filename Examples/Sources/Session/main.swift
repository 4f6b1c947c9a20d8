// The example stands as the documentation has it:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// Requests users from an API, then downloads a file. The first run stops after some bytes were received, and saves
// resume data in FILE.resume, from which the next run resumes:
//
//     Session http://127.0.0.1:8080/api/ big.iso

guard CommandLine.arguments.count == 3, let api = URL(string: CommandLine.arguments[1]) else {
    FileHandle.standardError.write(Data("usage: Session URL FILE\n".utf8))
    exit(64)
}
let file = URL(fileURLWithPath: CommandLine.arguments[2])
let kept = file.appendingPathExtension("resume")
let (ends, ended) = AsyncStream.makeStream(of: Void.self)

do {
    // MARK: Example

    let session = HTTPSessionManager(baseURL: api)
    let users = try await session.get("users", parameters: ["page": 2])
    session.get("users", progress: nil, success: { task, users in }, failure: { task, error in })

    // MARK: End of example

    print(users ?? "nothing")
    if let data = try? Data(contentsOf: kept) {
        // MARK: Example

        let rest = session.downloadTask(withResumeData: data, progress: nil, destination: { _, _ in file }) { response, file, error in
            print(error?.localizedDescription ?? "\(response?.statusCode ?? 0): \(file?.lastPathComponent ?? "")")
            ended.yield()
        }
        rest.resume()

        // MARK: End of example
    } else {
        session.setDownloadTaskDidWriteData { task, _, _, _ in
            task.cancelByProducingResumeData { data in
                try? data?.write(to: kept)
                print("kept: \(data != nil)")
                ended.yield()
            }
        }
        // MARK: Example

        let download = session.downloadTask(
            with: URLRequest(url: try session.url(for: "big.iso")),
            progress: { progress in print(progress.fractionCompleted) },
            destination: { temporary, response in file },
            completion: { response, file, error in }
        )
        download.resume()       // download.suspend(), download.cancel()
        // download.cancelByProducingResumeData { data in } makes the data for another process.

        // MARK: End of example
    }
    for await _ in ends { break }
} catch {
    FileHandle.standardError.write(Data("The users cannot be had: \(error)\n".utf8))
    exit(1)
}
