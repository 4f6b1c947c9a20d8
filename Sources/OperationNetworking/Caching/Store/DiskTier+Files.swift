import Foundation
internal import OperationNetworkingSystem

// The files of bodies, on any queue.
extension DiskTier {
    static func bodyName(_ id: Int64) -> String { "\(id).body" }

    /// The entry whose body has the name; `nil` for other names.
    static func entry(of name: String) -> Int64? {
        name.hasSuffix(".body") ? Int64(name.dropLast(5)) : nil
    }

    /// The names of files for bodies, and of those on their way.
    func fileNames() -> [String] {
        guard let folder = folder.withLock({ $0 }), let names = try? folder.names() else { return [] }
        return names.filter { name in
            Self.entry(of: name) != nil || (name.hasSuffix(".part") && UInt64(name.dropLast(5)) != nil)
        }
    }

    /// Removes a file that no process writes, if `isUseless`, which is asked with the file locked.
    func removeUnlessLocked(_ name: String, if isUseless: () -> Bool) {
        folder.withLock { $0 }?.removeUnlessLocked(name, if: isUseless)
    }

    /// Waits until the files of entries, and their names, are on the disk.
    /// - Returns: those that are.
    func synchronize(_ ids: [Int64]) -> [Int64] {
        do {
            let folder = try openedFolder()
            let written = ids.filter { id in
                guard let body = try? openBody(id) else { return false }
                return (try? body.synchronizeData()) != nil
            }
            if !written.isEmpty { try folder.synchronize() }
            return written
        } catch {
            return []
        }
    }

    private func openedFolder() throws -> CacheFolder {
        guard let folder = folder.withLock({ $0 }) else { throw BodyError.missing }
        return folder
    }

    /// Makes a file for a body on its way.
    func createFile() throws -> (name: String, file: PartFile) {
        let folder = try openedFolder()
        while true {
            let name = "\(UInt64.random(in: .min ... .max)).part"
            do {
                return (name, try folder.create(name))
            } catch let error as SystemError where error.code == SystemError.busy {
                // A sweep took it for a leftover in the moment before it was locked. They are seldom.
                continue
            }
        }
    }

    func openBody(_ id: Int64) throws -> PartFile? { try openedFolder().open(Self.bodyName(id)) }

    func rename(_ old: String, to new: String) throws { try openedFolder().rename(old, to: new) }

    func removeFiles(_ names: [String]) {
        guard let folder = folder.withLock({ $0 }) else { return }
        for name in names { folder.remove(name) }
    }
}
