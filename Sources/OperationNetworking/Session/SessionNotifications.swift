public import Foundation

// Posted on the session's completion queue, in order for each task. The object of the first three is the
// ``SessionTask``. Those of a task without closures and another owner are dropped like those of
// operations: see ``operationDidStart``.
extension Notification.Name {
    /// Posted when the transfer of a task begins, for the first time or after a suspension.
    public static let taskDidResume = Notification.Name("OperationNetworking.task.resume")

    /// Posted when the running transfer of a task was stopped by a suspension.
    public static let taskDidSuspend = Notification.Name("OperationNetworking.task.suspend")

    /// Posted when a task has completed and its completion handler has returned. ``TaskDidCompleteKey`` has
    /// the keys of the `userInfo`.
    public static let taskDidComplete = Notification.Name("OperationNetworking.task.complete")

    /// Posted when a session was invalidated and its last task has completed. The object is the
    /// ``URLSessionManager``.
    public static let urlSessionDidInvalidate = Notification.Name("OperationNetworking.session.invalidate")

    /// Posted when a downloaded file was moved to its destination. The object is the ``DownloadTask``.
    public static let urlSessionDownloadTaskDidMoveFile = Notification.Name(
        "OperationNetworking.session.download.file-manager-succeed"
    )

    /// Posted when a downloaded file could not be moved to its destination. The object is the
    /// ``DownloadTask``; the `userInfo` has the task's error under ``TaskDidCompleteKey/error``.
    public static let urlSessionDownloadTaskDidFailToMoveFile = Notification.Name(
        "OperationNetworking.session.download.file-manager-error"
    )
}

/// The keys of the `userInfo` of `taskDidComplete`. A key is absent if there is no such value.
public enum TaskDidCompleteKey {
    /// The `ResponseSerializer` of the task.
    public static let responseSerializer = "OperationNetworking.task.complete.responseserializer"
    /// The object that the serializer made; for a download, the file's `URL`.
    public static let serializedResponse = "OperationNetworking.task.complete.serializedresponse"
    /// The body, as `Data`; not for downloads.
    public static let responseData = "OperationNetworking.complete.finish.responsedata"
    /// The error of the task.
    public static let error = "OperationNetworking.task.complete.error"
    /// The `URL` of a downloaded file.
    public static let assetPath = "OperationNetworking.task.complete.assetpath"
    /// The cost of each transfer of the task: an array of ``TransferMetrics``.
    public static let sessionTaskMetrics = "OperationNetworking.complete.sessiontaskmetrics"
}
