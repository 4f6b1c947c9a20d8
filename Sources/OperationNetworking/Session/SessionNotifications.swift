public import Foundation

// Posted on the session's completion queue, in order for each task. The object of the first three is the
// ``SessionTask``. In a program that never runs its main queue they would pile up: those of tasks without closures
// are left out as those of operations are (see ``operationDidStart``).
extension Notification.Name {
    /// The transfer of a task begins, for the first time or after a suspension.
    public static let taskDidResume = Notification.Name("OperationNetworking.task.resume")

    /// The running transfer of a task was stopped by a suspension.
    public static let taskDidSuspend = Notification.Name("OperationNetworking.task.suspend")

    /// A task has completed, and its completion handler has returned. ``TaskDidCompleteKey`` has the keys of
    /// the `userInfo`.
    public static let taskDidComplete = Notification.Name("OperationNetworking.task.complete")

    /// A session was invalidated, and its last task has completed. The object is the ``URLSessionManager``.
    public static let urlSessionDidInvalidate = Notification.Name("OperationNetworking.session.invalidate")

    /// A downloaded file was moved to its destination. The object is the ``DownloadTask``.
    public static let urlSessionDownloadTaskDidMoveFile = Notification.Name(
        "OperationNetworking.session.download.file-manager-succeed"
    )

    /// A downloaded file could not be moved to its destination. The object is the ``DownloadTask``; the
    /// `userInfo` has the error under ``TaskDidCompleteKey/error``, which the task has, too.
    public static let urlSessionDownloadTaskDidFailToMoveFile = Notification.Name(
        "OperationNetworking.session.download.file-manager-error"
    )
}

/// The keys of the `userInfo` of `taskDidComplete`. Absent: there is no such value.
public enum TaskDidCompleteKey {
    /// The `ResponseSerializer` of the task.
    public static let responseSerializer = "OperationNetworking.task.complete.responseserializer"
    /// The object that the serializer made; of a download, the file's `URL`.
    public static let serializedResponse = "OperationNetworking.task.complete.serializedresponse"
    /// The body, `Data`, of a task that is no download.
    public static let responseData = "OperationNetworking.complete.finish.responsedata"
    /// The error.
    public static let error = "OperationNetworking.task.complete.error"
    /// The `URL` of a downloaded file.
    public static let assetPath = "OperationNetworking.task.complete.assetpath"
    /// The cost of each transfer of the task: an array of ``TransferMetrics``.
    public static let sessionTaskMetrics = "OperationNetworking.complete.sessiontaskmetrics"
}
