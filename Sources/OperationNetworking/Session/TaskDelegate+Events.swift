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
        -> Callback?
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
        let plain = { @Sendable in callAssumingIsolation(of: ask, $0, $1) }
        return Callback(in: ask.isolation) {
            switch plain(dataTask, response) {
            case .allow: decide(.usual)
            // Not a byte of it is received.
            case .cancel: dataTask.cancel()
            // Before anything else that waits: another round of the same question, or the end.
            case .becomeDownload: self.events.insert { self.become(downloadFrom: dataTask, decide) }
            }
        }
    }

    func didFollow(_ request: URLRequest) {
        task?.changing.withLock { $0.currentRequest = request }
    }

    func didResume(at offset: Int64) -> Callback? {
        guard let task = task as? DownloadTask,
            let tell = session.hooks.withLock({ $0.didResumeDownload })
        else { return nil }
        return Callback(tell, task, offset, task.countOfBytesExpectedToReceive)
    }

    func didReceive(_ piece: Data, done: @escaping @Sendable () -> Void) -> Callback? {
        guard let task = task as? DataTask, let tell = session.hooks.withLock({ $0.didReceiveData }) else {
            done()
            return nil
        }
        let plain = { @Sendable in callAssumingIsolation(of: tell, $0, $1) }
        return Callback(in: tell.isolation) {
            plain(task, piece)
            done()
        }
    }

    func didReceive(_ bytes: Int, _ total: Int64, _ expected: Int64) {
        guard let task else { return }
        let report = ProgressReport(bytes: bytes, total: total, expected: expected)
        task.changing.withLock { $0.received = report }
        tellProgress(.download, of: task)
        guard task is DownloadTask, session.hooks.withLock({ $0.didWriteData != nil }) else { return }
        append(report, .download)
    }

    func didSend(_ bytes: Int, _ total: Int64, _ expected: Int64) {
        guard let task else { return }
        // A body of unknown length may have a length that the request names.
        let named = task.originalRequest.value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) }
        let expected = expected < 0 ? named ?? -1 : expected
        let report = ProgressReport(bytes: bytes, total: total, expected: expected)
        task.changing.withLock { $0.sent = report }
        tellProgress(.upload, of: task)
        if session.hooks.withLock({ $0.didSendBodyData != nil }) { append(report, .upload) }
    }

    /// Has the session's closure told the bytes: with those that wait already, if it does not keep up.
    private func append(_ report: ProgressReport, _ direction: ProgressDirection) {
        let isFirst = state.withLock { state in
            let waiting = state.untold[direction]
            state.untold[direction] = waiting?.merged(with: report) ?? report
            return waiting == nil
        }
        guard isFirst else { return }
        events.appendHere {
            guard let task = self.task,
                let report = self.state.withLock({ $0.untold.removeValue(forKey: direction) })
            else { return nil }
            let hooks = self.session.hooks.withLock { $0 }
            let (bytes, total, expected) = (Int64(report.bytes), report.total, report.expected)
            switch direction {
            case .upload: return hooks.didSendBodyData.map { Callback($0, task, bytes, total, expected) }
            case .download:
                guard let download = task as? DownloadTask else { return nil }
                return hooks.didWriteData.map { Callback($0, download, bytes, total, expected) }
            }
        }
    }

    private func tellProgress(_ direction: ProgressDirection, of task: SessionTask) {
        let progress = task.taskProgress[direction]
        let isChild = task.taskProgress.child == direction
        if !isChild {
            let report = task.changing.withLock { direction == .download ? $0.received : $0.sent }
            TaskProgress.report(report.total, of: report.expected, to: progress)
        }
        let isHeard = state.withLock { $0.closures.progress(direction) != nil }
        guard isChild || isHeard else { return }
        line.appendProgress(direction) {
            let report = task.changing.withLock { direction == .download ? $0.received : $0.sent }
            if isChild { TaskProgress.report(report.total, of: report.expected, to: progress) }
            let handler = self.state.withLock { $0.closures.progress(direction) }
            return handler.map { Callback($0, progress) }
        }
    }
}
