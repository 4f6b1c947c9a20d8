internal import CurlBaseline
import Foundation
import FoundationNetworking
import OperationNetworking

/// 1 KiB, 20,000 times, 64 in flight, as full operations of a queue: seconds, against a bare C program on libcurl's multi
/// socket interface. The goal is 0.6 of its rate.
func manyRequests() throws -> Figure {
    let url = try nginx("kibibyte")
    let count = 20_000
    let inFlight = 64
    var processor: (first: Double, second: Double) = (0, 0)
    let rounds = 9
    let result = try ratio(rounds: rounds) {
        let before = processorSeconds()
        try getAll(url, count, inFlight)
        processor.first += processorSeconds() - before
    } to: {
        let before = processorSeconds()
        let failed = curl_baseline_get(url.absoluteString, Int32(count), Int32(inFlight))
        guard failed == 0 else { throw BenchmarkError.failed(Int(failed)) }
        processor.second += processorSeconds() - before
    }
    // The first of each was for warming up.
    let requests = Double(count * (rounds + 1))
    return Figure(
        name: "1 KiB GETs, 64 in flight",
        value: result.ratio,
        goal: 1 / 0.6,
        unit: "x the time of bare libcurl",
        remark:
            "\(rounded(Double(count) / result.first)) and \(rounded(Double(count) / result.second)) a second; processor time "
            + "\(rounded(processor.first / requests * 1e6)) and \(rounded(processor.second / requests * 1e6)) us each"
    )
}

private func getAll(_ url: URL, _ count: Int, _ inFlight: Int) throws {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = inFlight
    let operations = (0..<count).map { _ in HTTPRequestOperation(request: URLRequest(url: url)) }
    queue.addOperations(operations, waitUntilFinished: true)
    let failed = operations.count { $0.error != nil || $0.responseData?.count != 1024 }
    guard failed == 0 else { throw BenchmarkError.failed(failed) }
}

/// The processor time of this process, in user and system mode together (getrusage(2)).
private func processorSeconds() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
