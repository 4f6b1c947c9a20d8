// The examples stand as the documentation has them:
// swift-format-ignore-file

import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking

// The commonest lines of programs that used AFNetworking, in a class of the main actor: downloads a file, shows a
// list, sends a form, from an API:
//
//     Porting http://127.0.0.1:8080/api/ FOLDER

@MainActor
final class Page {
    var title = "" { didSet { print(title) } }
    let manager: OperationManager
    let file: URL
    private let ends: AsyncStream<Void>
    private let end: AsyncStream<Void>.Continuation

    init(api url: URL, folder: URL) throws {
        let token = "secret"
        file = folder.appendingPathComponent("big.iso")
        (ends, end) = AsyncStream.makeStream()

        // MARK: Example

        let manager = OperationManager(baseURL: url)
        try manager.requestSerializer.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")

        // MARK: End of example

        self.manager = manager
        // Closures of this class come on the main queue all the same.
        manager.completionQueue = DispatchQueue(label: "callbacks")
    }

    func show(_ object: Any?) {
        title = "\(object ?? "nothing")"
        end.yield()
    }

    func download() async throws {
        // MARK: Example

        try await manager.get("big.iso", configure: { operation in operation.outputFile = file })

        // MARK: End of example
        // MARK: Example

        let operation = manager.get(
            "big.iso",
            configure: { operation in operation.outputFile = file },
            success: { operation, _ in self.title = operation.response?.url?.lastPathComponent ?? "saved" },
            failure: { operation, error in self.title = "\(RequestFailure(error).statusCode ?? 0)" })

        // MARK: End of example
        if let operation { _ = await OperationBatch([operation]).results() }
    }

    func list() async throws {
        // MARK: Example

        let users = try await manager.get("users", parameters: ["page": 2])
        let page = try await manager.response("GET", "users", parameters: ["page": 2])     // .value, .statusCode, .metrics
        manager.get(
            "users", parameters: ["page": 2],
            success: { operation, object in self.show(object) },
            failure: { operation, error in self.show(error) })

        // MARK: End of example
        for await _ in ends { break }
        print(users ?? "nothing", page.statusCode)
    }

    func send(_ photo: URL, _ data: Data) async {
        // MARK: Example

        manager.post(
            "photos",
            parameters: .form(["title": "Summer"]) { form in
                try form.appendPart(withFileURL: photo, name: "photo")
                form.appendPart(withFormData: data, name: "year")
            },
            success: { operation, object in self.show(object) },
            failure: { operation, error in self.show(error) })

        // MARK: End of example
        for await _ in ends { break }
    }

    /// Any dictionary is taken, and may be used afterwards.
    func parameters() async throws {
        var parameters: [String: Any] = ["name": "Ada", "age": 36]
        parameters["title"] = title
        try await manager.post("users", parameters: parameters)
        manager.get("users", parameters: parameters, success: { _, object in self.show(object) })
        for await _ in ends { break }
        try await manager.post("photos", parameters: .form(parameters) { form in
            form.appendPart(withFormData: Data(self.title.utf8), name: "title")
        })
        try await manager.post("users", parameters: .encoding(["name": "Ada"])) { operation in
            operation.setUploadProgress { _, total, _ in self.title = "\(total) bytes" }
        }
        // The results are there before the callbacks are made.
        while !title.hasSuffix(" bytes") { await Task.yield() }
    }

    /// Afterwards nothing is sent that has an `Authorization`.
    func authorization(of user: String, _ password: String) throws {
        // MARK: Example

        try manager.requestSerializer.setAuthorization(username: user, password: password)
        let fields = manager.requestSerializer.httpRequestHeaders      // all fields that the serializer sets
        manager.requestSerializer.clearAuthorization()

        // MARK: End of example
        let rest = manager.requestSerializer.httpRequestHeaders
        print(fields["Authorization"] ?? "none", rest["Authorization"] ?? "none")
    }
}

guard CommandLine.arguments.count == 3, let api = URL(string: CommandLine.arguments[1]) else {
    FileHandle.standardError.write(Data("usage: Porting URL FOLDER\n".utf8))
    exit(64)
}
do {
    let page = try Page(api: api, folder: URL(fileURLWithPath: CommandLine.arguments[2], isDirectory: true))
    try await page.download()
    try await page.list()
    await page.send(page.file, Data("2026".utf8))
    try await page.parameters()
    try page.authorization(of: "Ada", "secret")
} catch {
    FileHandle.standardError.write(Data("\(api.absoluteString): \(error)\n".utf8))
    exit(1)
}
