import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworkingSystem

@testable import OperationNetworking

/// Counts how often its queue asks whether it is ready.
final class AskedOperation: HTTPRequestOperation, @unchecked Sendable {
    // @unchecked: `questions` is locked.
    private let questions: Locked<Int>

    init(request: URLRequest, questions: Locked<Int>) {
        self.questions = questions
        super.init(request: request)
    }

    required init(request: URLRequest) {
        questions = Locked(0)
        super.init(request: request)
    }

    override var isReady: Bool {
        questions.withLock { $0 += 1 }
        return super.isReady
    }
}

/// Continues while a queue asks it whether it is ready: that is noticed before the answer, which is no.
final class HastyOperation: HTTPRequestOperation, @unchecked Sendable {
    // @unchecked: written and read on the thread that adds it.
    private var isAsked = false
    private var isCancelling = false

    convenience init(_ request: URLRequest, isCancelling: Bool) {
        self.init(request: request)
        self.isCancelling = isCancelling
        pause()
    }

    override var isReady: Bool {
        let isReady = super.isReady
        guard !isAsked else { return isReady }
        isAsked = true
        if isCancelling { cancel() } else { resume() }
        return isReady
    }
}

/// Held in `start()`, where its queue counts it already and nobody sees it run.
final class SlowStart: HTTPRequestOperation, @unchecked Sendable {
    // @unchecked: as its superclass; the rest is Sendable.

    let mayGoOn = DispatchSemaphore(value: 0)
    private let isStarting = Locked(false)

    override func start() {
        isStarting.withLock { $0 = true }
        super.start()
    }

    override var queuePriority: Operation.QueuePriority {
        get {
            if isStarting.withLock({ $0 }) {
                mayGoOn.wait()
                mayGoOn.signal()
            }
            return super.queuePriority
        }
        set { super.queuePriority = newValue }
    }
}

extension TransferQueue {
    /// The limit that Foundation goes by, which is another one while places are lent.
    var limitInUse: Int { foundationLimit }
}

/// Raises `peak` to the number of transfers that run, if there are more.
func countTransfers(upTo peak: Locked<Int>) {
    NetworkThread.shared.perform { network in
        let count = network.transfers.count
        peak.withLock { $0 = max($0, count) }
    }
}
