import Foundation
import OperationNetworkingSystem

/// A folder as a disk has it: what was asked of it, and what of that is certain to be there after a loss of power.
///
/// More may get lost here than any file system loses: between two synchronizations each write, each length and each
/// name may come through or not, by itself.
struct DiskModel {
    private enum Edit {
        case write(offset: Int64, bytes: Data)
        case truncate(Int64)
    }

    private enum NameEdit {
        case give(String, Int)
        case move(String, to: String, Int)
        case take(String)
    }

    private struct File {
        var synchronized = Data()
        var pending: [Edit] = []
    }

    private var files: [File] = []
    /// Which file has an inode now: numbers are used again.
    private var objects: [UInt64: Int] = [:]
    private var names: [String: Int] = [:]
    private var synchronizedNames: [String: Int] = [:]
    private var pendingNames: [NameEdit] = []

    /// - Parameter contents: the inode and the bytes by name; all on the disk.
    init(_ contents: [String: (inode: UInt64, bytes: Data)] = [:]) {
        for (name, content) in contents {
            objects[content.inode] = files.count
            names[name] = files.count
            files.append(File(synchronized: content.bytes))
        }
        synchronizedNames = names
    }

    mutating func apply(_ change: FileChange) {
        switch change {
        case .create(let name, let inode):
            objects[inode] = files.count
            names[name] = files.count
            pendingNames.append(.give(name, files.count))
            files.append(File())
        case .write(let inode, let offset, let bytes):
            edit(inode, .write(offset: offset, bytes: Data(bytes)))
        case .truncate(let inode, let length):
            edit(inode, .truncate(length))
        case .synchronize(let inode):
            guard let object = objects[inode] else { return }
            files[object].synchronized = Self.bytes(of: files[object]) { _ in .whole }
            files[object].pending = []
        case .rename(let old, let new):
            guard let object = names.removeValue(forKey: old) else { return }
            names[new] = object
            pendingNames.append(.move(old, to: new, object))
        case .remove(let name):
            names[name] = nil
            pendingNames.append(.take(name))
        case .synchronizeFolder:
            synchronizedNames = names
            pendingNames = []
        }
    }

    private mutating func edit(_ inode: UInt64, _ edit: Edit) {
        if let object = objects[inode] { files[object].pending.append(edit) }
    }

    // MARK: - After the loss

    /// The fate of a write that was not waited for.
    enum Fate: CaseIterable {
        case whole
        case lost
        /// The first half.
        case torn
        /// The length, and zeros.
        case lengthOnly
    }

    /// The files by name, if `loss` decides what comes through.
    func contents(after loss: inout PowerLoss) -> [String: Data] {
        var left = synchronizedNames
        for edit in pendingNames where loss.keepsName() {
            switch edit {
            case .give(let name, let object):
                left[name] = object
            case .move(let old, let new, let object):
                left[old] = nil
                left[new] = object
            case .take(let name):
                left[name] = nil
            }
        }
        return left.mapValues { object in
            Self.bytes(of: files[object]) { loss.fate(isLast: $0) }
        }
    }

    private static func bytes(of file: File, _ fate: (_ isLast: Bool) -> Fate) -> Data {
        var bytes = file.synchronized
        for (index, edit) in file.pending.enumerated() {
            let fate = fate(index == file.pending.count - 1)
            guard fate != .lost else { continue }
            switch edit {
            case .truncate(let length):
                bytes.count = Int(length)
            case .write(let offset, let written):
                let kept = fate == .torn ? written.prefix(written.count / 2) : written
                let end = Int(offset) + kept.count
                if bytes.count < end { bytes.count = end }  // with zeros
                if fate != .lengthOnly { bytes.replaceSubrange(Int(offset)..<end, with: kept) }
            }
        }
        return bytes
    }
}

/// The changes, among those that were not waited for, that come through a loss of power.
enum PowerLoss: Sendable {
    case ofAllThatIsNotSynchronized
    case ofNothing
    case ofData
    case ofNames
    /// The files have their lengths, and zeros.
    case ofBytesButNotLengths
    /// Half of the last write of each file.
    case ofHalfAWrite
    case atRandom(SeededGenerator)

    static let regular: [PowerLoss] = [
        .ofAllThatIsNotSynchronized, .ofNothing, .ofData, .ofNames, .ofBytesButNotLengths, .ofHalfAWrite,
    ]

    mutating func keepsName() -> Bool {
        switch self {
        case .ofAllThatIsNotSynchronized, .ofNames: return false
        case .ofNothing, .ofData, .ofBytesButNotLengths, .ofHalfAWrite: return true
        case .atRandom(var generator):
            defer { self = .atRandom(generator) }
            return Bool.random(using: &generator)
        }
    }

    mutating func fate(isLast: Bool) -> DiskModel.Fate {
        switch self {
        case .ofAllThatIsNotSynchronized, .ofData: return .lost
        case .ofNothing, .ofNames: return .whole
        case .ofBytesButNotLengths: return .lengthOnly
        case .ofHalfAWrite: return isLast ? .torn : .whole
        case .atRandom(var generator):
            defer { self = .atRandom(generator) }
            return DiskModel.Fate.allCases.randomElement(using: &generator) ?? .lost
        }
    }
}
