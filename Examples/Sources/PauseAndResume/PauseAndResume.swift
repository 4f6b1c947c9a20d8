import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking

/// PauseAndResume URL FILE: downloads to a file, with a pause.
@main
enum PauseAndResume {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 2, let big = arguments.first.flatMap(URL.init(string:)), let path = arguments.last else {
            FileHandle.standardError.write(Data("usage: PauseAndResume URL FILE\n".utf8))
            exit(2)
        }
        let file = URL(fileURLWithPath: path)
        let queue = OperationQueue()

        // The example.
        let download = HTTPRequestOperation(request: URLRequest(url: big))
        download.outputStream = OutputStream(url: file, append: false)
        queue.addOperation(download)
        download.pause()        // download.isPaused
        download.resume()       // Range and If-Range, or from the start if the file changed
        // Its end.

        do {
            _ = try await download.value
            print("\(download.metrics?.bytesReceived ?? 0) bytes received")
        } catch {
            print(error)
            exit(1)
        }
    }
}
