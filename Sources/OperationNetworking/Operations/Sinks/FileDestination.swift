import Foundation
internal import OperationNetworkingSystem

/// A file, which is created or truncated when it is opened; or a device, or a FIFO, which waits for a reader.
final class FileDestination: SinkDestination {
    private let url: URL
    private var file: OutputFile?
    private var counted: CountedFiles?

    init(_ url: URL) {
        self.url = url
    }

    /// Nothing has been written before it is open, not even to a FIFO or a terminal.
    var canBeEmptied: Bool { file?.canBeEmptied ?? true }
    let keepsRest = true
    var pollableDescriptor: Int32? { file?.pollableDescriptor }

    func open() throws -> Bool {
        do {
            guard let opened = try OutputFile(path: url.path) else { return false }
            file = opened
            counted = CountedFiles(.openDestination)
            return true
        } catch is FileClaim.Taken {
            throw OutputFileError.inUse(url)
        } catch {
            throw FileError.foundation(error, url)
        }
    }

    func empty() throws {
        try translating { try file?.truncate() }
    }

    func write(_ bytes: Span<UInt8>) throws -> Int {
        do {
            return try file?.write(bytes) ?? 0
        } catch {
            throw FileError.foundation(error, url)
        }
    }

    func close() throws {
        counted = nil
        try translating { try file?.close() }
    }

    private func translating<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            throw FileError.foundation(error, url)
        }
    }
}
