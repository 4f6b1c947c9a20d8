import Foundation
import OperationNetworkingTesting

/// A named pipe, and its readers.
struct FIFO {
    let url: URL

    struct NotMade: Error {}

    init(in directory: TemporaryDirectory) throws {
        url = directory.file("fifo")
        guard mkfifo(url.path, 0o600) == 0 else { throw NotMade() }
    }

    /// Reads at most `count` bytes on a thread of its own, then closes it, and hands them over.
    func read(atMost count: Int = .max) -> Recorder<Data> {
        let result = Recorder<Data>()
        let path = url.path
        let thread = Thread {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            var data = Data()
            var buffer = [UInt8](repeating: 0, count: 4096)
            while data.count < count {
                let received = Glibc.read(descriptor, &buffer, buffer.count)
                guard received > 0 else { break }
                data.append(contentsOf: buffer[..<received])
            }
            close(descriptor)
            result.append(data)
        }
        thread.start()
        return result
    }
}
