import Foundation
import FoundationNetworking
import OperationNetworking

/// A file of 2 GiB as a part of a form, to a server in another process: the most memory this process had.
func uploadingForm() throws -> Figure {
    let url = try nginx("discard")
    let length: Int64 = 2 << 30
    let file = FileManager.default.temporaryDirectory
        .appendingPathComponent("OperationNetworking-\(UUID().uuidString)")
    guard FileManager.default.createFile(atPath: file.path, contents: nil) else {
        throw BenchmarkError.noFile
    }
    defer { try? FileManager.default.removeItem(at: file) }
    try FileHandle(forWritingTo: file).truncate(atOffset: UInt64(length))
    let request = try HTTPRequestSerializer().multipartFormRequest(method: "POST", url: url) { form in
        try form.appendPart(withFileURL: file, name: "file")
    }
    let before = try peakMemory()
    let operation = HTTPRequestOperation(request: request)
    let clock = ContinuousClock()
    let start = clock.now
    let queue = OperationQueue()
    queue.addOperation(operation)
    queue.waitUntilAllOperationsAreFinished()
    if let error = operation.error { throw error }
    let sent = operation.metrics?.bytesSent ?? 0
    guard sent > length else { throw BenchmarkError.notSent(sent) }
    let seconds = (clock.now - start) / .seconds(1)
    return Figure(
        name: "a form with a file of 2 GiB",
        value: try peakMemory(),
        goal: 40,
        unit: "MiB at most in memory",
        remark: "\(rounded(before)) MiB before it; \(rounded(Double(sent) / seconds / 1e6)) MB/s"
    )
}

/// A path of the server that `make bench` starts.
func nginx(_ path: String) throws -> URL {
    guard let address = ProcessInfo.processInfo.environment["OPERATIONNETWORKING_NGINX_HTTP"],
        let url = URL(string: address)?.appendingPathComponent(path)
    else { throw BenchmarkError.noServer }
    return url
}

/// The most that this process had in memory, in MiB: `VmHWM` of proc(5).
private func peakMemory() throws -> Double {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
        let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Double($0) })
    else { throw BenchmarkError.noFigure }
    return kilobytes / 1024
}

enum BenchmarkError: Error {
    /// Run it by `make bench`, which starts one.
    case noServer
    case noFile
    case noFigure
    case notSent(Int64)
    case failed(Int)
}
