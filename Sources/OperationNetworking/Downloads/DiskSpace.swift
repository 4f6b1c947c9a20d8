internal import Foundation
internal import OperationNetworkingSystem

/// The disk space of a partial file: checked before the first byte, allocated one step ahead of the bytes, and
/// released when no more bytes come.
///
/// A length is only the server's word. Allocating all of it at once could take the whole disk for a hundred bytes.
///
/// | The announced length                               | What happens                                |
/// |----------------------------------------------------|---------------------------------------------|
/// | none                                               | nothing is allocated                        |
/// | more than any file here can have                   | ``DownloadError/tooLarge(_:length:)``     |
/// | more than there is space for now                   | ``DownloadError/notEnoughSpace(_:needed:available:)`` |
/// | any other                                          | space is allocated in steps: see ``AllocationPlan`` |
struct DiskSpace {
    /// The tolerance in bytes: blocks are larger than bytes, and file systems count them in different ways.
    private static let tolerance: Int64 = 1 << 16

    /// Whether an error says that there is no space now.
    static func isLack(_ error: any Error) -> Bool {
        switch error as? DownloadError {
        case .notEnoughSpace, .noRoomForBoth: return true
        default: break
        }
        return (error as? CocoaError)?.code == .fileWriteOutOfSpace
    }

    private let place: DownloadPlace
    private let file: PartFile
    private var plan = AllocationPlan()
    /// The maximum offset up to which blocks are allocated.
    private var end: Int64

    /// - Parameters:
    ///   - place: the place of the complete file.
    ///   - found: the partial file. What a killed process had allocated for it is released with the rest.
    init(_ place: DownloadPlace, _ found: FoundPart) {
        self.place = place
        file = found.file
        end = found.status.allocated > found.status.size + Self.tolerance ? .max : 0
    }

    /// Checks whether the whole file fits.
    /// - Throws: ``DownloadError``, `SystemError`.
    func check(for total: Int64?) throws {
        guard let total else { return }
        let (available, capacity) = try place.folder.room
        guard total <= capacity, file.canHave(total) else {
            throw DownloadError.tooLarge(place.url, length: total)
        }
        // Existing bytes need no space, however few blocks they use: they may be compressed, or counted late.
        let status = try file.status
        let needed = max(0, total - max(status.allocated, status.size))
        guard needed <= available else {
            throw DownloadError.notEnoughSpace(place.url, needed: needed, available: available)
        }
    }

    /// Prepares for bytes from `count` on.
    /// - Throws: ``DownloadError`` if there is no space for the first of them.
    mutating func begin(at count: Int64, total: Int64?) throws {
        plan = AllocationPlan(from: count, total: total)
        guard let range = plan.first() else { return }
        end = max(end, range.upperBound)
        do {
            try file.allocate(range.upperBound - range.lowerBound, at: range.lowerBound)
        } catch let error as SystemError where error.isLackOfSpace {
            plan.stop()
            throw DownloadError.notEnoughSpace(
                place.url,
                needed: (total ?? range.upperBound) - count,
                available: try place.folder.room.available
            )
        }
    }

    /// Prepares for a write up to `count`. If there is no space, the write will fail, after filling what there is.
    mutating func extend(to count: Int64) {
        guard let range = plan.next(for: count) else { return }
        end = max(end, range.upperBound)
        do {
            try file.allocate(range.upperBound - range.lowerBound, at: range.lowerBound)
        } catch {
            plan.stop()
        }
    }

    /// Releases what is allocated after the last byte, if anything. That changes the time of the last change.
    /// - Parameter count: the number of bytes.
    mutating func giveBack(behind count: Int64) {
        guard end > count else { return }
        end = 0
        plan.stop()
        file.releaseUnusedBlocks()
    }
}

/// The allocation of a file's blocks, step by step. A value.
struct AllocationPlan: Hashable, Sendable {
    /// The maximum number of bytes that are allocated at once, and so ahead of the received ones.
    static let step: Int64 = 64 << 20

    /// The offset up to which bytes are allocated, or were written without allocation.
    private var end: Int64
    /// The length of the file; `nil` if nothing is allocated.
    private var total: Int64?

    /// - Parameters:
    ///   - count: the number of existing bytes; not negative.
    ///   - total: the length of the file; `nil` if unknown.
    init(from count: Int64 = 0, total: Int64? = nil) {
        end = count
        self.total = total
    }

    /// Returns the range to allocate before the first byte; `nil` for none.
    mutating func first() -> Range<Int64>? { take() }

    /// Returns the range to allocate before a write up to `count`; `nil` for none.
    mutating func next(for count: Int64) -> Range<Int64>? {
        guard count > end else { return nil }
        // A piece that is this long needs no space ahead.
        guard count - end <= Self.step else {
            end = count
            return nil
        }
        return take()
    }

    /// Stops allocating.
    mutating func stop() {
        total = nil
    }

    private mutating func take() -> Range<Int64>? {
        guard let total, end < total else { return nil }
        let range = end..<(end + min(Self.step, total - end))
        end = range.upperBound
        return range
    }
}
