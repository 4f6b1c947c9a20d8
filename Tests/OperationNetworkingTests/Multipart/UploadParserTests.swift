import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Forms as they are understood by parsers of other authors.
@Suite(.timeLimit(.minutes(1)))
struct UploadParserTests {
    private static let texts = ["", "plain", "grün 日本 👴🏿", "a\r\nb", "--", "a=b&c", "\"quoted\""]

    private func manager() throws -> OperationManager {
        let manager = OperationManager(baseURL: RealServers.httpbin)
        manager.completionQueue = DispatchQueue(label: "callbacks")
        return manager
    }

    @Test(.enabled(if: RealServers.httpbin != nil), arguments: ["POST", "PUT", "PATCH"])
    func httpbinFindsFieldsAndFiles(method: String) async throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("note.txt")
        try Data("from a file".utf8).write(to: file)
        let build: @Sendable (inout MultipartFormData) throws -> Void = { form in
            for (index, text) in Self.texts.enumerated() {
                form.appendPart(withFormData: Data(text.utf8), name: "t\(index)")
            }
            try form.appendPart(withFileURL: file, name: "note")
            try form.appendPart(
                withInputStream: InputStream(data: Data("from a stream".utf8)),
                name: "stream",
                fileName: "s.bin",
                length: 13,
                mimeType: "text/plain"
            )
        }
        let manager = try manager()
        let parameters: [String: any Sendable] = ["list": [1, 2], "none": NSNull()]
        let object =
            switch method {
            case "POST":
                try await manager.post("anything", parameters: .form(parameters, constructingBody: build))
            case "PUT":
                try await manager.put("anything", parameters: .form(parameters, constructingBody: build))
            default:
                try await manager.patch("anything", parameters: .form(parameters, constructingBody: build))
            }
        let echo = try #require(object as? [String: Any])
        let fields = try #require(echo["form"] as? [String: Any])
        for (index, text) in Self.texts.enumerated() { #expect(fields["t\(index)"] as? String == text) }
        #expect(fields["list[]"] as? [String] == ["1", "2"])
        #expect(fields["none"] as? String == "")
        #expect(echo["files"] as? [String: String] == ["note": "from a file", "stream": "from a stream"])
        #expect(echo["method"] as? String == method)
    }

    /// The parser of e-mail in Python's library, which takes a form's body for what it is: MIME.
    @Test(.enabled(if: RealServers.python != nil))
    func pythonFindsWhatWasPutIn() async throws {
        let script = """
            import sys, json, email.parser, email.policy
            head = b'Content-Type: ' + sys.argv[1].encode() + b'\\r\\n\\r\\n'
            parser = email.parser.BytesParser(policy=email.policy.HTTP)
            message = parser.parsebytes(head + sys.stdin.buffer.read())
            assert message.is_multipart() and not message.defects, message.defects
            print(json.dumps([[part.get_param('name', header='Content-Disposition'), part.get_filename(),
                part.get_content_type(), part.get_payload(decode=True).hex()] for part in message.iter_parts()]))
            """
        var random = SeededGenerator(seed: 4)
        var form = MultipartFormData()
        var parts: [[String?]] = []
        for index in 0..<200 {
            let bytes = Data(
                (0..<Int.random(in: 0...300, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
            )
            let hex = bytes.map { $0.hexadecimal }.joined()
            if index % 2 == 0 {
                form.appendPart(withFormData: bytes, name: "field \(index)")
                parts.append(["field \(index)", nil, "text/plain", hex])
            } else {
                let name = "file-\(index).bin"
                try form.appendPart(withFileData: bytes, name: "f", fileName: name, mimeType: "a/b")
                parts.append(["f", name, "a/b", hex])
            }
        }
        let directory = try TemporaryDirectory()
        try await form.body.write(to: directory.file())
        let process = Process()
        process.executableURL = RealServers.python
        process.arguments = ["-c", script, form.contentType]
        process.standardInput = try FileHandle(forReadingFrom: directory.file())
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let json = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(try JSONDecoder().decode([[String?]].self, from: json) == parts)
    }

    @Test(
        "O5-23: a multipart upload does not fail because of its stream",
        .enabled(if: RealServers.httpbin != nil)
    )
    func streams() async throws {
        let manager = try manager()
        let form = FormParameters.form(["key": "value"]) { form in
            try form.appendPart(
                withInputStream: InputStream(data: Data("Some Data".utf8)),
                name: "DataName",
                fileName: "DataFileName",
                length: 9,
                mimeType: "text/plain"
            )
        }
        let object = try await manager.post("post", parameters: form)
        let echo = try #require(object as? [String: Any])
        #expect(echo["files"] as? [String: String] == ["DataName": "Some Data"])
        #expect(echo["form"] as? [String: String] == ["key": "value"])
    }
}

extension UInt8 {
    fileprivate var hexadecimal: String { (self < 16 ? "0" : "") + String(self, radix: 16) }
}
