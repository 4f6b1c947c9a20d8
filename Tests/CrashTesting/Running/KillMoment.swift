import OperationNetworkingTesting

/// The moment at which a run is killed.
enum KillMoment: Hashable, Sendable {
    /// So long after its start.
    case time(Duration)
    /// When the server has sent this number of bytes since.
    case bytes(Int)
    /// So long after the server has come to the end of an answer: around the file getting its final name.
    case answer(Duration)

    /// The work that a server had done when a run began.
    struct Mark: Hashable, Sendable {
        /// Bytes of bodies.
        var sent = 0
        /// Answers that had come to their end.
        var answers: Int

        init(sent: Int = 0, answers: Int) {
            self.sent = sent
            self.answers = answers
        }

        init(_ server: ScriptedServer) {
            self.init(sent: server.bodyBytesSent, answers: server.answersEnded)
        }
    }

    /// A moment in a run that fetches about `length` bytes at `bytesPerSecond`.
    static func random(length: Int, bytesPerSecond: Int, using numbers: inout RandomNumbers) -> KillMoment {
        switch Int.random(in: 0..<20, using: &numbers) {
        case 0..<9:
            let seconds = 0.1 + Double(length) / Double(bytesPerSecond)
            return .time(.seconds(Double.random(in: 0...seconds, using: &numbers)))
        case 9..<15: return .bytes(Int.random(in: 0...length, using: &numbers))
        default: return .answer(.microseconds(Int.random(in: 0...15_000, using: &numbers)))
        }
    }

    /// Suspends the task until it has come, or the process has ended.
    func wait(for child: ChildProcess, at server: ScriptedServer, since mark: Mark, limit: Duration) async {
        switch self {
        case .time(let time): try? await child.ended.wait(within: time)
        case .bytes(let count):
            await first(
                of: { try await server.waitForBodyBytes(count: mark.sent + count, within: limit) },
                { try await child.ended.wait(within: limit) }
            )
        case .answer(let time):
            await first(
                of: { try await server.waitForAnswers(count: mark.answers + 1, within: limit) },
                { try await child.ended.wait(within: limit) }
            )
            try? await child.ended.wait(within: time)
        }
    }
}

/// Suspends the task until one of two waits is over, however, and cancels the other.
private func first(
    of one: @escaping @Sendable () async throws -> Void,
    _ other: @escaping @Sendable () async throws -> Void
) async {
    await withTaskGroup(of: Void.self) { group in
        // The cause of a wait's end does not matter: the caller looks at the process.
        group.addTask { try? await one() }
        group.addTask { try? await other() }
        await group.next()
        group.cancelAll()
    }
}
