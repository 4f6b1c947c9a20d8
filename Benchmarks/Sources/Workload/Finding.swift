import Foundation
import FoundationNetworking
import Measuring
import OperationNetworking

/// DIRECTORY COUNT: a cache on the disk with as many entries. Those that `find` looks for are stored; the others are files
/// that are never opened, with the names of the cache's own.
func plant(_ arguments: inout Arguments) throws {
    let cache = try Sought(&arguments)
    let count = try arguments.number("count")
    for url in cache.urls {
        guard let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
        else {
            throw WorkError.missing("response")
        }
        let stored = CachedURLResponse(response: response, data: Data(repeating: 120, count: 1024))
        cache.cache.storeCachedResponse(stored, for: URLRequest(url: url))
    }
    // It waits until they are written.
    _ = cache.cache.currentDiskUsage
    let folder = cache.directory.appendingPathComponent("OperationNetworking.cache")
    for number in cache.urls.count..<count {
        let digits = String(number, radix: 16)
        for (length, kind) in [(64, "head"), (16, "body")] {
            let name = String(repeating: "0", count: length - digits.count) + digits + "." + kind
            let path = folder.appendingPathComponent(name).path
            guard FileManager.default.createFile(atPath: path, contents: Data()) else {
                throw WorkError.missing(path)
            }
        }
    }
    try printResult(count)
}

/// DIRECTORY: seconds of the first look into a cache that an earlier process filled, and of each later one, with its body.
func find(_ arguments: inout Arguments) throws {
    struct Result: Encodable {
        let first: Double
        let each: Double
    }

    let cache = try Sought(&arguments)
    var times: [Double] = []
    for url in cache.urls {
        let start = monotonicSeconds()
        let found = cache.cache.cachedResponse(for: URLRequest(url: url))
        times.append(monotonicSeconds() - start)
        guard found?.data.count == 1024 else { throw WorkError.failed(1) }
    }
    let later = times.dropFirst()
    try printResult(Result(first: times[0], each: later.reduce(0, +) / Double(later.count)))
}

/// The cache of both, and what one of them stores and the other looks for.
private struct Sought {
    let directory: URL
    let cache: ResponseCache
    let urls = (0..<1000).compactMap { URL(string: "http://127.0.0.1/\($0)") }

    init(_ arguments: inout Arguments) throws {
        directory = URL(fileURLWithPath: try arguments.next("directory"), isDirectory: true)
        cache = ResponseCache(memoryCapacity: 0, diskCapacity: 4 << 30, directory: directory)
    }
}
