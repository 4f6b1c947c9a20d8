import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Bytes that one policy let in, and a download under another one.
@Suite(.enabled(if: TestCertificates.directory != nil), .timeLimit(.minutes(1)))
struct DownloadVerificationTests {
    /// The servers that a download accepts.
    enum Access: String, Sendable {
        case insecure, anchored, pinned, trusting

        func configure(_ operation: DownloadOperation) throws {
            let root = try #require(TestCertificates.pem("root"))
            switch self {
            case .insecure:
                operation.securityPolicy = SecurityPolicy(
                    allowInvalidCertificates: true,
                    validatesDomainName: false
                )
            case .anchored:
                operation.trustAnchors = .file(root)
            case .pinned:
                operation.trustAnchors = .file(root)
                operation.securityPolicy = SecurityPolicy(
                    pinningMode: .publicKey,
                    pinnedCertificates: try X509Certificate.all(contentsOf: root)
                )
            case .trusting:
                operation.setAuthenticationChallenge { _, _ in .trustServer }
            }
        }
    }

    private let folder: TemporaryDirectory
    private let journal = DownloadScene.Journal()

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func operation(_ access: Access, _ path: String) throws -> DownloadOperation {
        let url = try #require(NginxTLSServer.good.url).appendingPathComponent(path)
        let operation = DownloadOperation(request: URLRequest(url: url), to: folder.file("a"))
        operation.completionQueue = DispatchQueue(label: "callbacks")
        operation.retryPolicy = nil
        operation.addObserver(journal)
        try access.configure(operation)
        return operation
    }

    /// Some bytes come, and then it is cancelled.
    private func leave(_ access: Access) async throws {
        let operation = try operation(access, "slow/1m.bin")
        let progress = Recorder<Int64>()
        operation.setDownloadProgress { _, total, _ in progress.append(total) }
        operation.start()
        try await progress.wait()
        operation.cancel()
        _ = try? await operation.value
        operation.completionQueue?.sync {}
        #expect(FileManager.default.fileExists(atPath: folder.file("a.part").path))
    }

    @Test(
        "P21",
        arguments: [
            (.insecure, .insecure, true), (.anchored, .anchored, true), (.pinned, .pinned, true),
            (.trusting, .trusting, true), (.anchored, .insecure, true), (.trusting, .insecure, true),
            (.insecure, .anchored, false), (.insecure, .pinned, false), (.anchored, .pinned, false),
            (.pinned, .anchored, false), (.trusting, .anchored, false), (.insecure, .trusting, false),
        ] as [(Access, Access, Bool)]
    )
    func bytesCountForTheSamePolicyOnly(first: Access, second: Access, isContinued: Bool) async throws {
        try await leave(first)
        try await leave(second)
        #expect(journal.reasons.elements == (isContinued ? [] : [.verificationChanged]))
        #expect(journal.offsets.elements.isEmpty == !isContinued)
    }

    @Test(
        arguments: [
            (.insecure, .insecure, true), (.anchored, .anchored, true), (.insecure, .anchored, false),
            (.anchored, .pinned, false), (.trusting, .anchored, false), (.trusting, .trusting, false),
        ] as [(Access, Access, Bool)]
    )
    func aCompleteFileCountsForTheSamePolicyOnly(
        first: Access,
        second: Access,
        isUpToDate: Bool
    ) async throws {
        for (access, expected) in [(first, false), (second, isUpToDate)] {
            let operation = try operation(access, "1k.bin")
            operation.downloadsOnlyIfChanged = true
            operation.start()
            _ = try await operation.value
            #expect(operation.isUpToDate == expected)
        }
    }
}
