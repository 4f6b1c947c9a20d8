import Foundation
import FoundationNetworking
import Measuring
import OperationNetworking

/// URL LARGE-URL DIRECTORY COUNT: requests for URL, alone and beside four operations whose bodies go to FIFOs that are read at
/// 400 kB a second, in turns.
func drain(_ arguments: inout Arguments) throws {
    struct Result: Encodable {
        /// Requests a second: medians.
        let alone: Double
        let beside: Double
    }

    let url = try arguments.url("URL")
    let large = try arguments.url("large URL")
    let directory = URL(fileURLWithPath: try arguments.next("directory"))
    let count = try arguments.number("count")
    let queue = TransferQueue()
    let readers = try (0..<4).map { try SlowReader(directory.appendingPathComponent("fifo-\($0)")) }
    try getByOperations(url, 64, 64)
    var rates: (alone: [Double], beside: [Double]) = ([], [])
    for _ in 0..<5 {
        rates.alone.append(Double(count) / (try Usage.of { try getByOperations(url, count, 64) }).seconds)
        let operations = readers.map { reader in
            let operation = HTTPRequestOperation(request: URLRequest(url: large))
            operation.outputFile = reader.file
            return operation
        }
        queue.addOperations(operations, waitUntilFinished: false)
        for reader in readers { reader.waitForBytes() }
        rates.beside.append(Double(count) / (try Usage.of { try getByOperations(url, count, 64) }).seconds)
        guard operations.allSatisfy(\.isExecuting) else { throw WorkError.failed(1) }
        for operation in operations { operation.cancel() }
        queue.waitUntilAllOperationsAreFinished()
    }
    try printResult(Result(alone: rates.alone.sorted()[2], beside: rates.beside.sorted()[2]))
    exit(0)
}

/// The reader of a FIFO that takes 4 KiB every 10 ms.
private final class SlowReader: @unchecked Sendable {
    // @unchecked: everything is assigned once.
    let file: URL
    private let descriptor: Int32
    private let began = DispatchSemaphore(value: 0)

    init(_ file: URL) throws {
        self.file = file
        // With both ends it is always open for its writers.
        guard mkfifo(file.path, 0o600) == 0 else { throw WorkError.system(errno) }
        descriptor = open(file.path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw WorkError.system(errno) }
        Thread.detachNewThread { self.run() }
    }

    func waitForBytes() { began.wait() }

    private func run() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        var isFirst = true
        while true {
            // Empty for a while: another operation begins.
            var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&event, 1, 100) == 0 { isFirst = true }
            guard event.revents != 0 else { continue }
            guard read(descriptor, &bytes, bytes.count) > 0 else { return }
            if isFirst { began.signal() }
            isFirst = false
            usleep(10_000)
        }
    }
}
