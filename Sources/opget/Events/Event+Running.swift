import Foundation
import FoundationNetworking
import OperationNetworking

extension Item {
    /// The path in events; `nil` for an open descriptor.
    fileprivate var path: String? {
        if case .file(let path) = destination { path.text } else { nil }
    }
}

extension ItemStarted {
    /// Items count from 1 in events; `index` counts from 0.
    init(_ index: Int, _ item: Item) {
        self.init(item: index + 1, url: item.printableURL, path: item.path)
    }
}

extension ItemResponded {
    init(_ index: Int, _ response: HTTPURLResponse) {
        let length = response.expectedContentLength
        self.init(
            item: index + 1,
            url: response.url?.withoutUser ?? "",
            status: response.statusCode,
            mediaType: response.mediaTypeName,
            length: length >= 0 ? length : nil
        )
    }
}

extension ItemRetrying {
    init(_ index: Int, _ retry: Retry) {
        var (status, failure) = (Int?.none, Failure?.none)
        switch retry.cause {
        case .response(let response):
            (status, failure) = (response.statusCode, Failure(status: response.statusCode))
        case .error(let error): failure = Failure(error)
        case .busyServer: break
        }
        self.init(
            item: index + 1,
            delay: retry.delay.roundedToMilliseconds,
            status: status,
            errorClass: failure?.outcome.name,
            error: failure?.sentence
        )
    }
}

extension ItemFinished {
    /// Creates the event of an item without a transfer.
    init(
        _ index: Int,
        _ item: Item,
        _ result: Result,
        bytes: Int64 = 0,
        digest: FileDigest? = nil,
        failure: Failure? = nil
    ) {
        self.init(
            item: index + 1,
            url: item.printableURL,
            path: item.path,
            result: result,
            bytes: bytes,
            digest: digest?.description,
            seconds: nil,
            errorClass: failure?.outcome.name,
            error: failure?.sentence
        )
    }

    init(
        _ index: Int,
        _ transfer: Transfer,
        _ result: Result,
        bytes: Int64,
        resumedAt: Int64? = nil,
        now: Double,
        failure: Failure? = nil
    ) {
        let resumedAt = resumedAt ?? transfer.resumedAt
        self.init(
            item: index + 1,
            url: transfer.item.printableURL,
            path: transfer.item.path,
            partialPath: transfer.partialPath,
            result: result,
            bytes: bytes,
            resumedAt: resumedAt > 0 ? resumedAt : nil,
            seconds: transfer.seconds(now: now).roundedToMilliseconds,
            status: transfer.operation.response?.statusCode,
            errorClass: failure?.outcome.name,
            error: failure?.sentence
        )
        switch result == .saved ? transfer.proof : transfer.download?.downloadedFile?.proof {
        case .digest(let value): (proof, digest) = (.digest, value.description)
        case .length: proof = .length
        case .overlap: proof = .overlap
        case .range: proof = .range
        case .unverifiable: proof = .unverifiable
        case .existing, nil: break
        }
    }

    /// Creates the event of an item whose file was not saved.
    init(
        _ index: Int,
        unsaved transfer: Transfer,
        _ result: Result,
        now: Double,
        failure: Failure? = nil
    ) {
        let kept = transfer.kept
        self.init(
            index,
            transfer,
            result,
            bytes: kept.bytes,
            resumedAt: kept.resumedAt,
            now: now,
            failure: failure
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
            upToDate: tally.upToDate,
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
