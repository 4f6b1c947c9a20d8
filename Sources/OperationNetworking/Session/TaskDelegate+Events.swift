import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

// The events of the operation, on the delegate queue, one after the other. What is returned is the call of
// the session's closure: the next event waits until that has returned.
extension TaskDelegate {
    func didReceive(_ response: HTTPURLResponse) {
        task?.changing.withLock { $0.response = response }
    }

    /// The body waits for the answer. The answer to a resumption is no other response to the user.
    func judge(_ response: HTTPURLResponse, _ decide: @escaping @Sendable (BodyPlace) -> Void)
        -> Detour?
    {
        didReceive(response)
        let (isFirst, file) = state.withLock { state in
            defer { state.hasResponse = true }
            return (!state.hasResponse, state.place?.file)
        }
        // The first answer may have come when the transfer had been stopped by a suspension.
        guard file == nil, isFirst, let dataTask = task as? DataTask,
            let ask = session.hooks.withLock({ $0.didReceiveResponse })
        else {
            decide(file.map { .file($0) } ?? .usual)
            return nil
        }
        let plain = IsolatedFunction.Binary(ask).plain
        return Detour(ClosureHome(ask.isolation)) {
            switch plain(dataTask, response) {
            case .allow: decide(.usual)
            // Not a byte of it is received.
            case .cancel: dataTask.cancel()
            case .becomeDownload: self.events.append { self.become(downloadFrom: dataTask, decide) }
            }
        }
    }

    func didFollow(_ request: URLRequest) {
        task?.changing.withLock { $0.currentRequest = request }
    }

    func didResume(at offset: Int64) -> Detour? {
        guard let task = task as? DownloadTask,
            let tell = session.hooks.withLock({ $0.didResumeDownload })
        else { return nil }
        return Detour(tell, task, offset, task.countOfBytesExpectedToReceive)
    }

    func didReceive(_ piece: Data, done: @escaping @Sendable () -> Void) -> Detour? {
        guard let task = task as? DataTask, let tell = session.hooks.withLock({ $0.didReceiveData }) else {
            done()
            return nil
        }
        let plain = IsolatedFunction.Binary(tell).plain
        return Detour(ClosureHome(tell.isolation)) {
            plain(task, piece)
            done()
        }
    }

    func didReceive(_ bytes: Int, _ total: Int64, _ expected: Int64) -> Detour? {
        guard let task else { return nil }
        task.changing.withLock {
            $0.received = ProgressReport(bytes: bytes, total: total, expected: expected)
        }
        TaskProgress.report(total, of: expected, to: task.downloadProgress)
        tellProgress(.download, task.downloadProgress, of: task)
        guard let download = task as? DownloadTask, let tell = session.hooks.withLock({ $0.didWriteData })
        else { return nil }
        return Detour(tell, download, Int64(bytes), total, expected)
    }

    func didSend(_ bytes: Int, _ total: Int64, _ expected: Int64) -> Detour? {
        guard let task else { return nil }
        // A body of unknown length may have a length that the request names.
        let named = task.originalRequest.value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) }
        let expected = expected < 0 ? named ?? -1 : expected
        task.changing.withLock {
            $0.sent = ProgressReport(bytes: bytes, total: total, expected: expected)
        }
        TaskProgress.report(total, of: expected, to: task.uploadProgress)
        tellProgress(.upload, task.uploadProgress, of: task)
        return session.hooks.withLock { $0.didSendBodyData }
            .map { Detour($0, task, Int64(bytes), total, expected) }
    }

    private func tellProgress(
        _ direction: TaskEar.Direction,
        _ progress: Progress,
        of task: SessionTask
    ) {
        let (closures, ears) = state.withLock { ($0.closures, $0.ears) }
        let handler = direction == .download ? closures.downloadProgress : closures.uploadProgress
        guard handler != nil || !ears.isEmpty else { return }
        var calls = ears.map { ear -> CallLine.Call in
            {
                let report = task.changing.withLock { direction == .download ? $0.received : $0.sent }
                return ear.hear(.didMove(direction, total: report.total, expected: report.expected))
            }
        }
        if let handler { calls.append { Detour(handler, progress) } }
        line.appendProgress(direction, calls)
    }
}
