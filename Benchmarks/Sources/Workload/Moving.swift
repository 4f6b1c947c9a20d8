import Foundation
import FoundationNetworking
import Measuring
import OperationNetworking

/// WAY URL FILE: one large body to a file (`file`), as a download (`download`), or to memory (`memory`, FILE is not used); as a
/// download at 512 MiB a second (`limited`), and as one whose SHA-256 is wanted (`digest`);
/// to a file, and to a cache on the disk, FILE.cache (`stored`).
func fetch(_ arguments: inout Arguments) throws {
    let way = try arguments.next("way")
    let request = URLRequest(url: try arguments.url("URL"))
    let file = URL(fileURLWithPath: try arguments.next("file"))
    let operation: ConnectionOperation
    switch way {
    case "file":
        operation = HTTPRequestOperation(request: request)
        operation.outputFile = file
    case "download", "limited", "digest":
        let download = DownloadOperation(request: request, to: file)
        download.replacesFile = true
        if way != "download" { download.downloadLimits = [BandwidthLimit(bytesPerSecond: 512 << 20)] }
        if way == "digest" { download.wantedDigests = [.sha256] }
        operation = download
    case "stored":
        operation = HTTPRequestOperation(request: request)
        operation.outputFile = file
        let directory = file.appendingPathExtension("cache")
        operation.cache = ResponseCache(memoryCapacity: 0, diskCapacity: 4 << 30, directory: directory)
    case "memory":
        operation = HTTPRequestOperation(request: request)
        operation.maximumResponseDataLength = .max
    case let way: throw WorkError.unknown(way)
    }
    try run(operation)
    if way == "memory", operation.responseData?.isEmpty != false { throw WorkError.failed(1) }
}

/// URL FILE: a PUT of a file.
func upload(_ arguments: inout Arguments) throws {
    var request = URLRequest(url: try arguments.url("URL"))
    request.httpMethod = "PUT"
    request.bodySource = try .file(URL(fileURLWithPath: try arguments.next("file")))
    try run(HTTPRequestOperation(request: request))
}

private func run(_ operation: ConnectionOperation) throws {
    let queue = OperationQueue()
    let usage = Usage.of { queue.addOperations([operation], waitUntilFinished: true) }
    if let error = operation.error { throw error }
    try printResult(usage)
}
