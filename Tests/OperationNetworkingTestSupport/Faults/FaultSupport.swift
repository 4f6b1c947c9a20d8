import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

/// Where a body goes.
enum FaultDestination: CaseIterable, Sendable {
    case memory
    case file
    case stream
}

/// An operation that counts how often it ended.
struct WatchedOperation: Sendable {
    let operation: HTTPRequestOperation
    /// One for each time that one of the closures was called: the error, or `nil`.
    let ends = Recorder<(any Error)?>()

    init(_ url: URL, timeout: Double = 60, queue: DispatchQueue = DispatchQueue(label: "callbacks")) {
        var request = URLRequest(url: url)
        request.timeoutInterval = timeout
        operation = HTTPRequestOperation(request: request)
        operation.completionQueue = queue
        operation.setCompletion { [ends] _, _ in
            ends.append(nil)
        } failure: { [ends] _, error in
            ends.append(error)
        }
    }

    /// Waits for the end, and everything that was to be delivered with it.
    func end(within limit: Duration = .seconds(30)) async throws -> (any Error)? {
        let ends = try await ends.wait(within: limit)
        operation.completionQueue?.sync {}
        return ends[0]
    }
}

/// Operations that have nothing to do with a faulty one, in the same queue.
struct Bystanders {
    private static let body = PatternBody(seed: 9, length: 50_000)
    private let server: ScriptedServer
    private let directory: TemporaryDirectory
    private let all: [(operation: WatchedOperation, file: URL?)]

    /// Puts `count` operations into `queue`, every other one with a file.
    init(_ count: Int = 12, in queue: OperationQueue) throws {
        server = try ScriptedServer { _ in .respond(body: .pattern(Bystanders.body)) }
        let directory = try TemporaryDirectory()
        self.directory = directory
        all = (0..<count).map { [server] index in
            let operation = WatchedOperation(server.url)
            let file = index.isMultiple(of: 2) ? directory.file("\(index)") : nil
            operation.operation.outputFile = file
            return (operation, file)
        }
        for one in all { queue.addOperation(one.operation.operation) }
    }

    /// Waits until every one has ended well, with its whole body.
    func finish() async throws {
        for (operation, file) in all {
            #expect(try await operation.end() == nil)
            if let file {
                #expect(try Self.body.firstDifference(fromFile: file) == nil)
            } else {
                let data = try #require(operation.operation.responseData)
                #expect(Self.body.firstDifference(from: data) == nil)
            }
        }
    }
}

extension OperationQueue {
    /// A queue of which one operation that hangs leaves the better part.
    static func wide() -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 4
        return queue
    }
}

extension Error {
    /// The POSIX code beneath a `CocoaError`, or of the error itself.
    var posixCode: Int? {
        let error = self as NSError
        if error.domain == NSPOSIXErrorDomain { return error.code }
        return (error.userInfo[NSUnderlyingErrorKey] as? NSError).map { $0.code }
    }
}
