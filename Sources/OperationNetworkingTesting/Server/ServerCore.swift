internal import Foundation

/// The shared state of a server's threads. May outlive the `ScriptedServer`.
final class ServerCore: Sendable {
    let state: Watched<ServerState>
    let bodyPolicy: RequestBodyPolicy
    let listener: ListeningSocket

    init(_ state: ServerState, bodyPolicy: RequestBodyPolicy) throws(SocketError) {
        self.state = Watched(state)
        self.bodyPolicy = bodyPolicy
        listener = try ListeningSocket()
    }

    // MARK: - For connections

    /// Records the request and returns its answer.
    func answer(to request: ReceivedRequest) -> (ReceivedRequest, Answer) {
        // In one critical section, so that the first recorded request gets the script's first answer.
        let (request, reaction) = state.withLock { ($0.record(request), $0.reaction(forPath: request.path)) }
        switch reaction {
        case .answer(let answer): return (request, answer)
        case .ask(let handler):
            do {
                return (request, try handler(request))
            } catch {
                note("The handler failed for \(request): \(error)")
                return (request, Answer(.message(.text(500, "The handler failed: \(error)\n"))))
            }
        }
    }

    /// Records a request that gets no answer.
    func record(_ request: ReceivedRequest) {
        state.withLock { _ = $0.record(request) }
    }

    func representation(for request: ReceivedRequest) -> Representation? {
        state.withLock { $0.representations[request.path] ?? $0.representation }
    }

    /// Returns the gate at which a stalling answer waits.
    func stall() -> Gate {
        state.withLock { state in
            state.stalls += 1
            return state.stallGate
        }
    }

    func countBody(_ count: Int) {
        state.withLock { $0.bodyBytesSent += count }
    }

    func countAnswer() {
        state.withLock { $0.answersEnded += 1 }
    }

    func note(_ problem: String) {
        state.withLock { $0.problems.append(problem) }
    }
}
