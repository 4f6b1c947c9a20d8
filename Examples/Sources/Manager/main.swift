// The example stands as the documentation has it:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// Requests users from an API at 127.0.0.1:8080, twice: with `await`, and with closures.


do {
    // MARK: Example

    let manager = OperationManager(baseURL: URL(string: "http://127.0.0.1:8080/api/"))
    let users = try await manager.get("users", parameters: ["page": 2])
    manager.get("users", parameters: ["page": 2], success: { operation, object in }, failure: { operation, error in })

    // MARK: End of example

    // The second request may still be running.
    await withCheckedContinuation { isIdle in
        manager.operationQueue.addBarrierBlock { isIdle.resume() }
    }
    print(users ?? "nothing")
} catch {
    FileHandle.standardError.write(Data("The users cannot be had: \(error)\n".utf8))
    exit(1)
}
