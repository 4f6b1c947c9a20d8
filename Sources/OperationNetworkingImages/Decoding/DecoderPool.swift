internal import Dispatch
internal import Foundation
internal import OperationNetworking
internal import OperationNetworkingImagesSystem

/// A pool of decoder processes: as many as there are processors, at most 4. Each is kept for some seconds
/// after its last image.
///
/// gdk-pixbuf decodes all seven formats from two packages, with less memory than libvips for each, and is as
/// fast or faster for all but GIF. Its loaders have a record of overflows, so it never runs in the
/// application: of 178,549 mutated images, eleven WebPs ended its process, each by a write through a failed
/// allocation. A process is used for 100 images at most, so that a defect that one plants does not last.
final class DecoderPool: @unchecked Sendable {
    // @unchecked: `state` is read and written only while `condition` is locked.
    static let shared = DecoderPool()
    /// The queue of serializers, as wide as the number of decoders, so that none waits for a decoder.
    static let queue = ProcessingQueue(label: "OperationNetworking.images", width: shared.limit)

    private let condition = NSCondition()
    private var state: DecoderPoolState<DecoderProcess>
    private let limit: Int
    private let idleTime: Double

    init(
        limit: Int = min(4, ProcessInfo.processInfo.activeProcessorCount),
        imagesPerDecoder: Int = 100,
        idleTime: Double = 5
    ) {
        self.limit = max(1, limit)
        state = DecoderPoolState(limit: max(1, limit), imagesPerDecoder: imagesPerDecoder)
        self.idleTime = idleTime
    }

    /// Decodes an image. Blocks until a decoder is free, and then for at most the request's time limit.
    func decode(_ request: DecoderProcess.Request) throws(DecoderFailure) -> DecoderProcess.Pixels {
        let item = try take()
        guard item.decoder.formats.contains(request.format) else {
            release(item)
            throw .missing
        }
        do {
            let pixels = try item.decoder.decode(request)
            release(item)
            return pixels
        } catch {
            release(error.leavesProcess ? item : nil)
            throw error
        }
    }

    /// The identifiers of the idle processes.
    var idleProcesses: [Int32] {
        condition.lock()
        defer { condition.unlock() }
        return state.idle.map(\.decoder.identifier)
    }

    // MARK: - Private

    private func take() throws(DecoderFailure) -> DecoderPoolState<DecoderProcess>.Item {
        condition.lock()
        while true {
            switch state.take() {
            case .reuse(let item):
                condition.unlock()
                // If the process ended while it was idle, that is not this image's fault.
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

    private func started() throws(DecoderFailure) -> DecoderPoolState<DecoderProcess>.Item {
        do {
            return .init(decoder: try DecoderProcess())
        } catch {
            release(nil)
            throw error
        }
    }

    private func release(_ item: DecoderPoolState<DecoderProcess>.Item?) {
        condition.lock()
        let idlePeriod = state.release(item)
        condition.signal()
        condition.unlock()
        guard let idlePeriod else { return }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + idleTime) { [weak self] in
            self?.expire(idlePeriod)
        }
    }

    /// Releases a decoder, which ends its process, outside of the lock.
    private func expire(_ idlePeriod: Int) {
        condition.lock()
        let item = state.expire(idlePeriod)
        condition.unlock()
        withExtendedLifetime(item) {}
    }
}
