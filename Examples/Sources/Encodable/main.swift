// The example stands as the documentation has it:
// swift-format-ignore-file

import Foundation
import OperationNetworking

// Sends a value as a form, and prints the response:
//
//     Encodable http://127.0.0.1:8080/api/ Ada

// MARK: Example

nonisolated struct NewUser: Encodable, Sendable { let name: String }
nonisolated struct User: Decodable, Sendable { let id: Int, name: String }

// MARK: End of example

guard CommandLine.arguments.count == 3, let base = URL(string: CommandLine.arguments[1]) else {
    FileHandle.standardError.write(Data("usage: Encodable URL NAME\n".utf8))
    exit(64)
}
let manager = OperationManager(baseURL: base)
let newUser = NewUser(name: CommandLine.arguments[2])

do {
    // MARK: Example

    let user = try await manager.post("users", parameters: .encoding(newUser), as: User.self)

    // MARK: End of example

    print("\(user.id): \(user.name)")
} catch {
    FileHandle.standardError.write(Data("\(newUser.name) was not sent: \(error)\n".utf8))
    exit(1)
}
