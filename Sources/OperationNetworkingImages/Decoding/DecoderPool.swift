internal import Dispatch
internal import Foundation
internal import OperationNetworking
internal import OperationNetworkingImagesSystem

/// Decoder processes, as many as there are processors and 4 at most, each kept for some seconds after its
/// last image.
///
/// gdk-pixbuf decodes all seven formats from two packages, with less memory than libvips for each, and is as
/// fast or faster for all but GIF. Its loaders have a record of overflows, so it never runs in the
/// application: of 178,549 mutated images, eleven WebPs ended its process, each by a write through a failed
/// allocation. A process is used for 100 images at most, so that a defect that one plants does not last.
final class DecoderPool: @unchecked Sendable {
    // @unchecked: `shelf` is read and written only while `condition` is locked.
    static let shared = DecoderPool()
    /// The queue of serializers: as wide as there are decoders, so that none waits for one.
    static let queue = ProcessingQueue(label: "OperationNetworking.images", width: shared.limit)

    private let condition = NSCondition()
    private var shelf: DecoderShelf<DecoderProcess>
    private let limit: Int
    private let idleTime: Double

    init(
        limit: Int = min(4, ProcessInfo.processInfo.activeProcessorCount),
        wear: Int = 100,
        idleTime: Double = 5
    ) {
        self.limit = max(1, limit)
        shelf = DecoderShelf(limit: max(1, limit), wear: wear)
        self.idleTime = idleTime
    }

    /// Has an image decoded. Blocks the thread: until a decoder is free, and for the request's time at most.
    func decode(_ request: DecoderProcess.Request) throws(DecoderFailure) -> DecoderProcess.Pixels {
        let item = try take()
        guard item.decoder.formats.contains(request.format) else {
            give(item)
            throw .missing
        }
        do {
            let pixels = try item.decoder.decode(request)
            give(item)
            return pixels
        } catch {
            give(error.leavesProcess ? item : nil)
            throw error
        }
    }

    /// The numbers of the processes that wait for an image.
    var idleProcesses: [Int32] {
        condition.lock()
        defer { condition.unlock() }
        return shelf.idle.map(\.decoder.identifier)
    }

    // MARK: - Private

    private func take() throws(DecoderFailure) -> DecoderShelf<DecoderProcess>.Item {
        condition.lock()
        while true {
            switch shelf.take() {
            case .reuse(let item):
                condition.unlock()
                // One that ended while it was idle is no fault of this image.
                if item.decoder.isWaiting { return item }
                return try started()
            case .wait:
                condition.wait()
            case .start:
                condition.unlock()
                return try started()
            }
        }
    }

    private func started() throws(DecoderFailure) -> DecoderShelf<DecoderProcess>.Item {
        do {
            return .init(decoder: try DecoderProcess())
        } catch {
            give(nil)
            throw error
        }
    }

    private func give(_ item: DecoderShelf<DecoderProcess>.Item?) {
        condition.lock()
        let stay = shelf.give(item)
        condition.signal()
        condition.unlock()
        guard let stay else { return }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + idleTime) { [weak self] in
            self?.expire(stay)
        }
    }

    /// Lets go of a decoder, which ends it, after the lock.
    private func expire(_ stay: Int) {
        condition.lock()
        let item = shelf.expire(stay)
        condition.unlock()
        withExtendedLifetime(item) {}
    }
}
