import Foundation

extension DownloadBatch {
    /// Looks whether each name is wanted once only. What different paths lead to the same file nobody can tell before it
    /// is written: then it is ``DownloadError/inUse(_:)``, or ``DownloadError/destinationExists(_:)``.
    /// - Throws: ``DownloadBatchError/duplicateDestination(_:)``.
    static func check(_ items: [DownloadItem], journal: URL?) throws(DownloadBatchError) {
        var taken = Set(journal.map { [$0.standardizedFileURL.path] } ?? [])
        taken.reserveCapacity(items.count + 1)
        for item in items where !taken.insert(item.destination.standardizedFileURL.path).inserted {
            throw .duplicateDestination(item.destination)
        }
    }

    /// Removes what a process that was killed left beside a file that it had just completed.
    static func removeLeftovers(of file: URL) {
        // What stays harms nobody.
        try? DownloadPlace(file, watch: nil).check(replacing: .any)
    }
}
