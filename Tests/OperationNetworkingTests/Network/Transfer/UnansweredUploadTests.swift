import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// A server that chose no protocol and does not answer is asked once more, over HTTP/2 if it wants: the body is
/// then sent from its first byte.
@Suite(.timeLimit(.minutes(1)))
struct UnansweredUploadTests {
    private let server: TLSServer
    private let directory: TemporaryDirectory

    init() throws {
        server = try TLSServer()
        directory = try TemporaryDirectory()
    }

    enum Body: CaseIterable { case data, file, stream, streamOfUnknownLength, form }

    /// One that may be held, and so goes over HTTP/1.1.
    private func operation(_ body: Body, length: Int) throws -> (HTTPRequestOperation, Data) {
        let content = PatternBody(seed: 7, length: length).data
        var request = URLRequest(url: try server.url("/second"), timeoutInterval: 10)
        request.httpMethod = "PUT"
        switch body {
        case .data: request.bodySource = .data(content)
        case .file:
            let file = directory.file("source")
            try content.write(to: file)
            request.bodySource = try .file(file)
        case .stream: request.bodySource = .stream(length: Int64(length)) { InputStream(data: content) }
        case .streamOfUnknownLength: request.bodySource = .stream { InputStream(data: content) }
        case .form:
            var form = MultipartFormData()
            form.appendPart(withFormData: content, name: "a")
            request.setValue(form.contentType, forHTTPHeaderField: "Content-Type")
            request.bodySource = form.body
        }
        let operation = HTTPRequestOperation(request: request)
        operation.trustAnchors = .file(server.certificate)
        operation.outputFile = directory.file("answer")
        operation.completionQueue = DispatchQueue(label: "callbacks")
        return (operation, try read(try #require(request.bodySource), by: 1 << 20))
    }

    @Test(arguments: Body.allCases, [10, 1 << 20])
    func theBodyIsSentOnceMoreFromItsFirstByte(_ body: Body, length: Int) async throws {
        let (operation, sent) = try operation(body, length: length)
        let totals = Recorder<Int64>()
        operation.setUploadProgress { _, total, _ in totals.append(total) }
        operation.start()
        _ = try await operation.value
        #expect(try Data(contentsOf: directory.file("answer")) == sent)
        #expect(try #require(operation.metrics).transferCount == 2)
        operation.completionQueue?.sync {}
        #expect(totals.elements.last == Int64(sent.count))
    }

    @Test func aStreamThatCanBeReadOnceIsAnError() async throws {
        var request = URLRequest(url: try server.url("/second"), timeoutInterval: 10)
        request.httpMethod = "PUT"
        request.bodySource = .stream(InputStream(data: Data("0123456789".utf8)))
        let operation = HTTPRequestOperation(request: request)
        operation.trustAnchors = .file(server.certificate)
        operation.outputFile = directory.file("answer")
        operation.start()
        await #expect(throws: (any Error).self) { try await operation.value }
        #expect(!FileManager.default.fileExists(atPath: directory.file("answer").path))
    }
}
