import Foundation

extension DownloadBatch {
    /// Checks that each name is wanted once only. Whether different paths lead to the same file is not known
    /// before it is written: then it is ``DownloadError/inUse(_:)``, or
    /// ``DownloadError/destinationExists(_:)``.
    /// - Throws: ``DownloadBatchError/duplicateDestination(_:)``.
    static func check(_ items: [DownloadItem], journal: URL?) throws(DownloadBatchError) {
        // By bytes, as file systems do: Swift takes characters for equal that are composed differently.
        var taken = Set(journal.map { [Array($0.standardizedFileURL.path.utf8)] } ?? [])
        taken.reserveCapacity(items.count + 1)
        for item in items where !taken.insert(Array(item.destination.standardizedFileURL.path.utf8)).inserted
        {
            throw .duplicateDestination(item.destination)
        }
    }

    /// Removes what a process that was killed left beside a file that it had just completed.
    static func removeLeftovers(of file: URL) {
        // A leftover does no harm.
        try? DownloadPlace(file, watch: nil).check(replacing: .any)
    }
}
