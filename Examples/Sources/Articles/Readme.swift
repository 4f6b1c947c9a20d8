// The samples stand as the documentation has them:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking

// The samples of README as parts of methods: those of the programs are top-level code, which is main-actor code in
// every package. Compiled, and not called.

final class Readme {
    let queue = OperationQueue()

    func request(_ url: URL) async throws {
        // MARK: Example

        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        operation.responseSerializer = JSONResponseSerializer()
        queue.addOperation(operation)
        print(try await operation.value ?? "nothing")

        let another = operation.copied()        // the same request, with closures
        another.setDownloadProgress { bytes, total, expected in print(bytes, total, expected) }
        another.setCompletion(
            success: { operation, object in print(operation.response?.expectedContentLength ?? 0, object ?? "nothing") },
            failure: { operation, error in print(error) })
        queue.addOperation(another)

        // MARK: End of example
    }

    func batch(_ urls: [URL]) {
        // MARK: Example

        let operations = ConnectionOperation.batch(
            of: urls.map { HTTPRequestOperation(request: URLRequest(url: $0)) },
            progress: { finished, total in print("\(finished) of \(total)") },
            completion: { operations in print("all \(operations.count)") })
        for operation in operations { queue.addOperation(operation) }

        // MARK: End of example
    }

    func pausing(_ big: URL, _ file: URL) async throws {
        // MARK: Example

        let download = HTTPRequestOperation(request: URLRequest(url: big))
        download.outputFile = file
        queue.addOperation(download)
        download.pause()        // download.isPaused
        download.resume()       // Range and If-Range: the rest, and only of the same file
        _ = try await download.value

        // MARK: End of example
    }

    func download(_ big: URL, _ file: URL, _ digest: FileDigest) async throws {
        // MARK: Example

        let download = DownloadOperation(request: URLRequest(url: big), to: file)
        download.expectedDigests = [digest]
        queue.addOperation(download)
        let saved = try await download.savedFile    // its URL
        print(download.downloadedFile?.proof ?? .unverifiable, download.downloadedFile?.bytesRecovered ?? 0)

        // MARK: End of example
        print(saved)
    }

    func verbs() async throws {
        // MARK: Example

        let manager = OperationManager(baseURL: URL(string: "http://127.0.0.1:8080/api/"))
        let users = try await manager.get("users", parameters: ["page": 2])
        manager.get("users", parameters: ["page": 2], success: { operation, object in }, failure: { operation, error in })

        // MARK: End of example
        print(users ?? "nothing")
    }

    func trust(_ url: URL, pins: URL, identity: URL, passphrase: String, user: String, password: String) async throws {
        // MARK: Example

        let manager = OperationManager(baseURL: url)
        manager.securityPolicy = SecurityPolicy(
            pinningMode: .publicKey,
            pinnedCertificates: try X509Certificate.all(inDirectory: pins))       // DER or PEM
        manager.clientIdentity = try ClientIdentity(pkcs12File: identity, passphrase: passphrase)
        manager.credential = Credential(user: user, password: password)       // Basic, Digest or NTLM, as the server offers
        manager.cookieJar = CookieJar()                                       // instead of the shared one
        manager.proxyConfiguration = .proxy(try Proxy("socks5h://localhost:1080"))

        // MARK: End of example
        print(try await manager.get("") ?? "nothing")
    }
}
