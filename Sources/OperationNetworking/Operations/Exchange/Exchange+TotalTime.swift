import Dispatch
import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

extension Exchange {
    /// The owner wants the exchange to run.
    func startTotalTime() {
        guard let left = totalTime.start(now: now) else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + left) { [weak self, lap = totalTime.lap] in
            NetworkThread.shared.perform { [weak self] room in self?.totalTimeIsOver(lap, room) }
        }
    }

    private func totalTimeIsOver(_ lap: Int, _ room: NetworkRoom) {
        guard totalTime.isRunning, totalTime.lap == lap, let stop = machine.stop() else { return }
        perform(stop, room)
        fail(URLError.tookTooLong(configuration.settings.totalTimeout ?? 0, url: route.hopURL))
    }
}
