// The example stands as the documentation has it:
// swift-format-ignore-file

import Foundation
import OperationNetworking

// Sends a file as a part of a form, and prints what the server says:
//
//     Upload http://127.0.0.1:8080/photos photo.png

guard CommandLine.arguments.count == 3, let base = URL(string: CommandLine.arguments[1]) else {
    FileHandle.standardError.write(Data("usage: Upload URL FILE\n".utf8))
    exit(64)
}
let photo = URL(fileURLWithPath: CommandLine.arguments[2])
let manager = OperationManager(baseURL: base)

do {
    // MARK: Example

    let answer = try await manager.post("", parameters: .form(["title": "Summer"]) { form in
        try form.appendPart(withFileURL: photo, name: "photo")
        form.appendPart(withFormData: Data("2026".utf8), name: "year")
    })

    // MARK: End of example

    print(answer ?? "nothing")
} catch {
    FileHandle.standardError.write(Data("\(photo.path) was not sent: \(error)\n".utf8))
    exit(1)
}
