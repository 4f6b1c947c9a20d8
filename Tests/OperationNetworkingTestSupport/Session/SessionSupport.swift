import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworkingTesting

@testable import OperationNetworking

extension URLSessionManager {
    /// One that needs no main queue.
    static func forTests(_ configuration: SessionConfiguration = SessionConfiguration()) -> URLSessionManager
    {
        let session = URLSessionManager(configuration: configuration)
        session.completionQueue = DispatchQueue(label: "callbacks")
        return session
    }
}

extension HTTPSessionManager {
    /// One that needs no main queue.
    static func forTests(
        _ url: URL?,
        _ configuration: SessionConfiguration = SessionConfiguration()
    ) -> HTTPSessionManager {
        let session = HTTPSessionManager(baseURL: url, configuration: configuration)
        session.completionQueue = DispatchQueue(label: "callbacks")
        return session
    }
}

extension DownloadTask {
    /// Whether it has begun, although it may wait for a connection.
    var isUnderWay: Bool { operation.isExecuting }

    /// Whether the file has been received, although it may not have been moved to its destination.
    var hasWholeFile: Bool { (operation as? DownloadOperation)?.downloadedFile != nil }
}

/// The results that completion handlers were called with.
final class TaskEnds: Sendable {
    struct End: Sendable {
        let response: HTTPURLResponse?
        let object: (any Sendable)?
        let error: (any Error)?

        var code: URLError.Code? { (error as? URLError)?.code }
        var text: String? { (object as? Data).map { String(decoding: $0, as: UTF8.self) } }
        var file: URL? { object as? URL }
    }

    let recorder = Recorder<End>()

    /// For data tasks and uploads.
    var handler: SessionTask.CompletionHandler {
        { self.recorder.append(End(response: $0, object: $1, error: $2)) }
    }

    /// For downloads.
    var fileHandler: DownloadTask.DownloadCompletionHandler {
        { self.recorder.append(End(response: $0, object: $1, error: $2)) }
    }

    func success(_ task: DataTask, _ object: (any Sendable)?) {
        recorder.append(End(response: task.response, object: object, error: nil))
    }

    func failure(_ task: DataTask?, _ error: any Error) {
        recorder.append(End(response: task?.response, object: nil, error: error))
    }

    /// The first one.
    func wait() async throws -> End { try await recorder.wait()[0] }
}

/// The notifications of one object.
final class TaskNotices: @unchecked Sendable {
    // @unchecked: `tokens` changes in `init` and `deinit` only.
    let names = Recorder<Notification.Name>()
    let userInfos = Recorder<[String: any Sendable]>()
    private var tokens: [any NSObjectProtocol] = []

    static let all: [Notification.Name] = [
        .taskDidResume, .taskDidSuspend, .taskDidComplete, .urlSessionDidInvalidate,
        .urlSessionDownloadTaskDidMoveFile, .urlSessionDownloadTaskDidFailToMoveFile,
    ]

    init(of object: AnyObject) {
        for name in Self.all {
            tokens.append(
                NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) {
                    [names, userInfos] notification in
                    userInfos.append(notification.userInfo as? [String: any Sendable] ?? [:])
                    names.append(notification.name)
                }
            )
        }
    }

    deinit {
        for token in tokens { NotificationCenter.default.removeObserver(token) }
    }
}
