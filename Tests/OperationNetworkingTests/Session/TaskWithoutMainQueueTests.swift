import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// In a process of its own, whose main thread waits.
@Suite(.timeLimit(.minutes(2))) struct TaskWithoutMainQueueTests {
    private struct Weak {
        weak var task: SessionTask?
    }

    @Test func tasksWithoutClosuresDoNotPileUpWhileTheMainQueueStands() async {
        await #expect(processExitsWith: .success) {
            alarm(50)
            let (gate, isBlocked) = (Gate(), Gate())
            DispatchQueue.main.async {
                isBlocked.open()
                try? gate.waitSynchronously(within: .seconds(1000))
            }
            try await isBlocked.wait()
            let session = URLSessionManager()
            let completions = Recorder<Int>()
            let token = NotificationCenter.default.addObserver(
                forName: .taskDidComplete,
                object: nil,
                queue: nil
            ) { completions.append(($0.object as? SessionTask)?.taskIdentifier ?? 0) }
            let request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:1/")))
            // Its handler is a closure, which waits for the main queue however many tasks end after it.
            let download = session.downloadTask(
                with: request,
                progress: nil,
                destination: nil,
                completion: nil
            )
            let (handlers, isMain) = (Recorder<Bool>(), DispatchSpecificKey<Bool>())
            DispatchQueue.main.setSpecific(key: isMain, value: true)
            download.cancelByProducingResumeData {
                handlers.append($0 == nil && DispatchQueue.getSpecific(key: isMain) == true)
            }
            // The program holds one of them all the time.
            var (held, tasks): ([SessionTask], [Weak]) = ([], [])
            for _ in 2...601 {
                let task = session.dataTask(with: request, completion: nil)
                if held.isEmpty { held.append(task) }
                tasks.append(Weak(task: task))
                task.cancel()
            }
            guard session.tasks.isEmpty, tasks.count(where: { $0.task != nil }) == 257 else { exit(2) }
            guard handlers.elements.isEmpty, completions.elements.isEmpty else { exit(3) }
            gate.open()
            guard try await handlers.wait() == [true] else { exit(4) }
            try await completions.wait(count: 258)
            guard Set(completions.elements) == Set([1, 2] + Array(346...601)) else { exit(5) }
            NotificationCenter.default.removeObserver(token)
        }
    }

    @Test func anAwaitedVerbNeedsNoMainQueue() async throws {
        let server = try ScriptedServer { _ in
            .respond(200, ["Content-Type": "application/json"], body: "[1]")
        }
        await #expect(processExitsWith: .success) { [url = server.url as URL] in
            alarm(50)
            let (gate, isBlocked) = (Gate(), Gate())
            DispatchQueue.main.async {
                isBlocked.open()
                try? gate.waitSynchronously(within: .seconds(1000))
            }
            try await isBlocked.wait()
            let session = HTTPSessionManager(baseURL: url)
            for _ in 1...3 {
                guard try await session.get("x") as? [Int] == [1] else { exit(2) }
            }
            guard session.tasks.isEmpty else { exit(3) }
            gate.open()
        }
    }
}
