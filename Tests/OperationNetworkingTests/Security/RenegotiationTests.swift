import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// TLS 1.2 lets a server ask for another handshake at any time: also when the transfer that opened the connection is long
/// over, and with it all that libcurl was given.
@Suite(.enabled(if: TestCertificates.directory != nil), .timeLimit(.minutes(1)))
struct RenegotiationTests {
    @Test func aServerIsVerifiedAgainWhenItRenegotiates() async throws {
        let server = try RenegotiatingServer()
        defer { server.stop() }
        let url = try await server.url()
        for round in 0..<3 {
            let operation = ConnectionOperation(
                request: URLRequest(url: url.appendingPathComponent("\(round)"))
            )
            operation.completionQueue = DispatchQueue(label: "callbacks")
            // Sessions are not resumed, and the handle of the first transfer is not used again.
            operation.securityPolicy = SecurityPolicy(
                pinningMode: .publicKey,
                pinnedCertificates: try TestCertificates.all("leaf")
            )
            operation.trustAnchors = .file(try #require(RealServers.authorities))
            let gate = Gate()
            operation.completionBlock = { gate.open() }
            operation.start()
            try await server.requests.wait(count: round + 1)
            server.say("r")
            try await server.handshakes.wait(count: round + 1)
            server.say("HTTP/1.1 200 OK\nContent-Length: 4\n\nok")
            try await gate.wait()
            #expect(operation.error == nil)
            #expect(operation.responseData == Data("ok\r\n".utf8))
            #expect(operation.metrics?.connectionCount == (round == 0 ? 1 : 0))
        }
    }
}

/// OpenSSL's own test server, over TLS 1.2; what it is to send, and when it is to renegotiate, is written to it.
private final class RenegotiatingServer: Sendable {
    /// Lines that it has said, by how they begin.
    let addresses = Recorder<String>()
    let requests = Recorder<String>()
    let handshakes = Recorder<String>()
    private let process = Process()
    private let input = Pipe()

    init() throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = [
            // Without sessions: in a handshake that resumes one, the server shows no certificate.
            "s_server", "-accept", "127.0.0.1:0", "-tls1_2", "-crlf", "-naccept", "1", "-no_cache",
            "-no_ticket",
            "-cert", try #require(TestCertificates.pem("leaf")).path,
            "-key", try #require(TestCertificates.key("leaf")).path,
            "-cert_chain", try #require(TestCertificates.pem("leaf-chain")).path,
        ]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let recorders = ["ACCEPT ": addresses, "GET ": requests, "SSL_do_handshake ": handshakes]
        let handle = output.fileHandleForReading
        Thread.detachNewThread {
            var rest = Data()
            while case let data = handle.availableData, !data.isEmpty {
                rest += data
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = String(decoding: rest[..<end], as: UTF8.self)
                    rest = Data(rest[(end + 1)...])
                    for (beginning, recorder) in recorders where line.hasPrefix(beginning) {
                        recorder.append(line)
                    }
                }
            }
        }
    }

    func stop() {
        process.terminate()
    }

    func url() async throws -> URL {
        let port = try await addresses.wait()[0].split(separator: ":").last ?? ""
        return try #require(URL(string: "https://localhost:\(port)/"))
    }

    func say(_ text: String) {
        input.fileHandleForWriting.write(Data((text + "\n").utf8))
    }
}
