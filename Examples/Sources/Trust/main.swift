// The example stands as the documentation has it:
// swift-format-ignore-file

import Foundation
import OperationNetworking

// Fetches a document from a server whose public key is pinned, with a client's certificate and a password:
//
//     Trust https://127.0.0.1:8443/users pins/ client.p12 passphrase user password

guard CommandLine.arguments.count == 7, let url = URL(string: CommandLine.arguments[1]) else {
    FileHandle.standardError.write(Data("usage: Trust URL PINS IDENTITY PASSPHRASE USER PASSWORD\n".utf8))
    exit(64)
}
let pins = URL(fileURLWithPath: CommandLine.arguments[2], isDirectory: true)
let identity = URL(fileURLWithPath: CommandLine.arguments[3])
let passphrase = CommandLine.arguments[4]
let (user, password) = (CommandLine.arguments[5], CommandLine.arguments[6])

do {
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
} catch {
    FileHandle.standardError.write(Data("\(url.absoluteString): \(error)\n".utf8))
    exit(1)
}
