import Foundation
import FoundationNetworking
import OperationNetworking

extension Item {
    /// As the events have it; `nil` when the body goes to standard output.
    fileprivate var path: String? {
        if case .file(let path) = destination { path.text } else { nil }
    }
}

extension ItemStarted {
    /// Items count from 1; `index` counts from 0, as everywhere else.
    init(_ index: Int, _ item: Item, partialPath: String?) {
        self.init(item: index + 1, url: item.printableURL, path: item.path, partialPath: partialPath)
    }
}

extension ItemResponded {
    init(_ index: Int, _ response: HTTPURLResponse) {
        let length = response.expectedContentLength
        self.init(
            item: index + 1,
            url: response.url?.withoutUser ?? "",
            status: response.statusCode,
            mediaType: response.mimeType,
            length: length >= 0 ? length : nil
        )
    }
}

extension ItemFinished {
    /// Of an item that it did not come to a transfer for.
    init(_ index: Int, _ item: Item, _ result: Result, bytes: Int64 = 0, failure: Failure? = nil) {
        self.init(
            item: index + 1,
            url: item.printableURL,
            path: item.path,
            result: result,
            bytes: bytes,
            seconds: nil,
            status: nil,
            errorClass: failure?.outcome.name,
            error: failure?.sentence
        )
    }

    init(
        _ index: Int,
        _ transfer: Transfer,
        _ result: Result,
        bytes: Int64,
        now: Double,
        failure: Failure? = nil
    ) {
        self.init(
            item: index + 1,
            url: transfer.item.printableURL,
            path: transfer.item.path,
            result: result,
            bytes: bytes,
            seconds: transfer.seconds(now: now).roundedToMilliseconds,
            status: transfer.operation.response?.statusCode,
            errorClass: failure?.outcome.name,
            error: failure?.sentence
        )
    }
}

extension RunFinished {
    init(_ outcome: Outcome, _ tally: Tally, seconds: Double) {
        self.init(
            outcome: outcome.name,
            exitCode: outcome.code,
            items: tally.count,
            saved: tally.saved,
            alreadyThere: tally.alreadyThere,
            failed: tally.failed,
            unfinished: tally.count - tally.finished,
            bytes: tally.bytesSaved,
            seconds: seconds.roundedToMilliseconds
        )
    }
}

extension Double {
    fileprivate var roundedToMilliseconds: Double { (self * 1000).rounded() / 1000 }
}

/// Hears the heads of responses.
final class ResponseObserver: OperationObserver {
    private let didReceive: @Sendable (HTTPURLResponse) -> Void

    init(_ didReceive: @escaping @Sendable (HTTPURLResponse) -> Void) {
        self.didReceive = didReceive
    }

    func operation(_ operation: ConnectionOperation, didReceive response: HTTPURLResponse) {
        didReceive(response)
    }
}
