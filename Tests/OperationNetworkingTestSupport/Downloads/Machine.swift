import OperationNetworkingSystem

@testable import OperationNetworking

/// A machine whose clock, boots and disk errors a test decides.
final class Machine {
    /// A value that closures share.
    final class Box<Value> {
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    let time = Box(0.0)
    let changes = Box<[FileChange]>([])
    /// The error of a change; `nil`: it succeeds.
    let fault = Box<((FileChange) -> SystemError?)>({ _ in nil })
    private let currentSession = Box<String?>("a boot")

    /// Another one stands for a restart of the machine.
    var session: String? {
        get { currentSession.value }
        set { currentSession.value = newValue }
    }

    var environment: DownloadEnvironment {
        DownloadEnvironment(
            watch: { [changes, fault] change in
                if let error = fault.value(change) { throw error }
                changes.value.append(change)
            },
            clock: { [time] in MonotonicTime(seconds: time.value) },
            session: { [currentSession] _ in currentSession.value }
        )
    }
}

extension PartialDownload {
    func write(_ text: String) throws {
        try write(Array(text.utf8).span)
    }

    /// The next bytes.
    func write(_ bytes: Span<UInt8>) throws {
        try write(bytes, at: position)
    }
}

extension FileChange {
    /// In a word or two, for comparing orders.
    var step: String {
        switch self {
        case .create(let name, _): "create \(name)"
        case .write: "write"
        case .truncate(_, let length): "truncate \(length)"
        case .synchronize: "sync"
        case .rename(_, let name): "rename \(name)"
        case .remove(let name): "remove \(name)"
        case .synchronizeFolder: "sync folder"
        }
    }
}

extension PartialDownload {
    /// The bytes that are there, from `offset` on, at most `length` of them.
    func read(_ length: Int, at offset: Int64) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: length)
        let read = try reader()
        var buffer = bytes.mutableSpan
        let count = try read(offset, &buffer)
        return Array(bytes[..<count])
    }
}
