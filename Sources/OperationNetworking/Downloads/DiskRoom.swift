internal import Foundation
internal import OperationNetworkingSystem

/// Room on the disk for a partial file: looked for before the first byte, allocated a step ahead of the
/// bytes, and given back when they stop coming.
///
/// A length is only a server's word. All of it allocated at once would take the disk from everything else for
/// a hundred bytes.
///
/// | The announced length                               | What becomes of it                          |
/// |----------------------------------------------------|---------------------------------------------|
/// | none                                               | nothing is allocated                        |
/// | more than any file here can have                   | ``DownloadError/tooLarge(_:length:limit:)`` |
/// | more than there is room for now                    | ``DownloadError/notEnoughSpace(_:needed:available:)`` |
/// | any other                                          | allocated in steps, see ``AllocationPlan``  |
struct DiskRoom {
    /// Blocks are larger than bytes, and file systems have their ways of counting them.
    private static let tolerance: Int64 = 1 << 16

    /// Whether an error says that there is no room now.
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
    /// Blocks are allocated as far as this, at most.
    private var end: Int64

    /// - Parameters:
    ///   - place: of the complete file.
    ///   - found: the partial file. What a process that died had allocated for it is given back with the
    ///     rest.
    init(_ place: DownloadPlace, _ found: FoundPart) {
        self.place = place
        file = found.file
        end = found.status.allocated > found.status.size + Self.tolerance ? .max : 0
    }

    /// Looks whether the whole file fits.
    /// - Throws: ``DownloadError``, `SystemError`.
    func check(for total: Int64?) throws {
        guard let total else { return }
        let (available, capacity) = try place.folder.room
        guard total <= capacity else {
            throw DownloadError.tooLarge(place.url, length: total, limit: capacity)
        }
        guard file.canHave(total) else {
            throw DownloadError.tooLarge(place.url, length: total, limit: file.maximumLength)
        }
        // The bytes that are there need no room, however few blocks they take: compressed ones, or ones that
        // are counted late.
        let status = try file.status
        let needed = max(0, total - max(status.allocated, status.size))
        guard needed <= available else {
            throw DownloadError.notEnoughSpace(place.url, needed: needed, available: available)
        }
    }

    /// Bytes are going to come from `count` on.
    /// - Throws: ``DownloadError``, if there is no room for the first of them.
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

    /// Bytes as far as `count` are going to be written. If there is no room the write finds out, and fills
    /// what there is.
    mutating func extend(to count: Int64) {
        guard let range = plan.next(for: count) else { return }
        end = max(end, range.upperBound)
        do {
            try file.allocate(range.upperBound - range.lowerBound, at: range.lowerBound)
        } catch {
            plan.stop()
        }
    }

    /// Gives back what is allocated behind the last byte, where there is anything. It changes the time of the
    /// last change.
    /// - Parameter count: how many bytes there are.
    mutating func giveBack(behind count: Int64) {
        guard end > count else { return }
        end = 0
        plan.stop()
        file.giveBackRoom()
    }
}

/// The allocation of a file's blocks, step by step: a value.
struct AllocationPlan: Hashable, Sendable {
    /// The number of bytes allocated at once, and so ahead of those that came, at most.
    static let step: Int64 = 64 << 20

    /// The end of the bytes that are allocated, or were written without.
    private var end: Int64
    /// The length of the file; `nil`: nothing is allocated.
    private var total: Int64?

    /// - Parameters:
    ///   - count: how many bytes are there; not negative.
    ///   - total: how many there are going to be; `nil`: unknown.
    init(from count: Int64 = 0, total: Int64? = nil) {
        end = count
        self.total = total
    }

    /// The range to allocate before the first byte comes; `nil`: none.
    mutating func first() -> Range<Int64>? { take() }

    /// The range to allocate before bytes as far as `count` are written; `nil`: none.
    mutating func next(for count: Int64) -> Range<Int64>? {
        guard count > end else { return nil }
        // A piece as long as that does not need room ahead.
        guard count - end <= Self.step else {
            end = count
            return nil
        }
        return take()
    }

    /// Allocates nothing more.
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
