// The samples stand as the documentation has them:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// The article Errors. Compiled, and not called.

nonisolated struct Problem: Decodable, Sendable {
    let title: String
}

@MainActor
final class Errors {
    var title = ""
    let manager = OperationManager()

    func show(_ object: Any?) { title = "\(object ?? "nothing")" }
    func offerAgain() { title = "again?" }
    func makeRoom(_ bytes: Int64) { title = "\(bytes) bytes are needed" }
    func open(_ file: URL) { title = file.path }

    func questions() async {
        // MARK: Example

        do {
            let users = try await manager.get("users", as: [User].self)
            show(users)
        } catch {
            let failure = RequestFailure(error)
            if failure.isCancelled { return }
            if failure.statusCode == 404 { return show([]) }
            if failure.isTemporary { offerAgain() }
        }

        // MARK: End of example
    }

    func failure(_ operation: HTTPRequestOperation) {
        // MARK: Example

        if operation.failure?.isOffline == true { title = "no network" }

        // MARK: End of example
    }

    func explanation(_ request: URLRequest) async {
        // MARK: Example

        let operation = manager.operation(for: request)
        operation.responseSerializer = DecodableResponseSerializer([User].self).decodingErrors(as: Problem.self)
        manager.operationQueue.addOperation(operation)
        let users = try? await operation.value(as: [User].self)
        let problem = (operation.error as? ResponseSerializationError)?.responseObject as? Problem

        // MARK: End of example
        show(users ?? problem?.title)
    }

    func cases(_ error: DownloadError) {
        // MARK: Example

        switch error {
        case .notEnoughSpace(_, let needed, _): makeRoom(needed)
        case .destinationExists(let file), .inUse(let file): open(file)
        case .noDestination, .invalidDestination, .reservedName, .destinationOfOtherUser, .destinationIsDirectory,
            .destinationIsNotFile, .noFreeName, .noRoomForBoth, .tooLarge, .partialFileReplaced, .digestMismatch,
            .checkpointUnreadable, .incomplete:
            show(error)
        @unknown default: show(error)
        }

        // MARK: End of example
    }
}
