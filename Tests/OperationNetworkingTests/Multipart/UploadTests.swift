import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Forms, files and streams on their way to a server.
@Suite(.timeLimit(.minutes(1)))
struct UploadTests {
    private let callbacks = DispatchQueue(label: "callbacks")
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func manager(_ server: ScriptedServer) -> OperationManager {
        let manager = OperationManager(baseURL: server.url)
        manager.completionQueue = callbacks
        manager.responseSerializer = HTTPResponseSerializer()
        return manager
    }

    private func file(_ name: String = "data.json", length: Int = 700_000) throws -> URL {
        let file = directory.file(name)
        try PatternBody(length: length).data.write(to: file)
        return file
    }

    private func form(_ url: URL, _ build: (inout MultipartFormData) throws -> Void) throws -> URLRequest {
        try HTTPRequestSerializer().multipartFormRequest(method: "POST", url: url, constructingBody: build)
    }

    // MARK: - Requests

    @Test func parametersComeBeforeTheParts() throws {
        let url = try #require(URL(string: "http://localhost/"))
        let request = try HTTPRequestSerializer().multipartFormRequest(
            method: "POST",
            url: url,
            parameters: [
                "b": ["y": 2, "x": [true, 1.5] as [any Sendable]] as [String: any Sendable],
                "a": Data([0xFF]), "n": NSNull(),
            ]
        ) { $0.appendPart(withFormData: Data("last".utf8), name: "z") }
        let body = try #require(request.bodySource)
        let data = try read(body)
        #expect(request.value(forHTTPHeaderField: "Content-Length") == String(data.count))
        let type = try #require(request.value(forHTTPHeaderField: "Content-Type"))
        let boundary = try #require(type.split(separator: "boundary=").last)
        let parts = data.split(separator: Data("--\(boundary)\r\n".utf8)).map { part in
            String(decoding: part, as: UTF8.self).replacing("Content-Disposition: form-data; ", with: "")
        }
        #expect(
            parts == [
                "name=\"a\"\r\n\r\n\u{FFFD}\r\n", "name=\"b[x][]\"\r\n\r\n1\r\n",
                "name=\"b[x][]\"\r\n\r\n1.5\r\n",
                "name=\"b[y]\"\r\n\r\n2\r\n", "name=\"n\"\r\n\r\n\r\n",
                "name=\"z\"\r\n\r\nlast\r\n--\(boundary)--\r\n",
            ]
        )
    }

    @Test func aFormWithoutPartsIsTheRequestAsItWas() throws {
        let url = try #require(URL(string: "http://localhost/"))
        let request = try form(url) { _ in }
        #expect(request.httpBodyStream == nil)
        #expect(request.httpBody == Data())
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/x-www-form-urlencoded")
    }

    /// Notes what it is asked to serialize, and signs the type, the length and the body of what it returns.
    private struct Signing: RequestSerializer {
        let asked = Recorder<URLRequest>()
        var base: any RequestSerializer = HTTPRequestSerializer()

        func emptyRequest(method: String, url: URL, headers: [String: String]) throws -> URLRequest {
            try base.emptyRequest(method: method, url: url, headers: headers)
        }

        func request(bySerializing request: URLRequest, with parameters: Any?) throws -> URLRequest {
            asked.append(request)
            var request = try base.request(bySerializing: request, with: parameters)
            request.setValue(try Self.signature(of: request), forHTTPHeaderField: "X-Signature")
            return request
        }

        static func signature(of request: URLRequest) throws -> String {
            let type = request.value(forHTTPHeaderField: "Content-Type") ?? "no type"
            let body = try request.httpBody ?? request.bodySource.map { try read($0) } ?? Data()
            return "\(type), \(body.count), \(try FileDigest.of(body, algorithm: .sha256).hex)"
        }
    }

    @Test(arguments: [HTTPRequestSerializer(), JSONRequestSerializer()] as [any RequestSerializer])
    func aSerializerThatSignsSeesWhatIsSent(base: any RequestSerializer) async throws {
        let server = try ScriptedServer { _ in .respond(body: "ok") }
        var (signing, timed) = (Signing(), base)
        try timed.setTimeoutInterval(7)
        signing.base = timed
        let adapted = Recorder<URLRequest>()
        let manager = manager(server)
        manager.requestSerializer = signing
        manager.requestAdapters = [
            ClosureRequestAdapter { request, _ in
                adapted.append(request)
                return request
            }
        ]
        let file = try file(length: 70_000)
        _ = try await manager.post(
            "form",
            parameters: .form(["title": "Lake"]) { try $0.appendPart(withFileURL: file, name: "photo") }
        )
        _ = try await manager.put("body", parameters: .body(.file(file)))
        _ = try await manager.post("plain", parameters: ["a": 1, "b": "x"])

        let sent = server.requests
        #expect(sent.count == 3)
        for request in sent {
            let digest = try FileDigest.of(request.body, algorithm: .sha256).hex
            let type = try #require(request["Content-Type"])
            #expect(request["X-Signature"] == "\(type), \(request.body.count), \(digest)")
        }
        #expect(sent[0]["Content-Type"]?.hasPrefix("multipart/form-data; boundary=") == true)
        #expect(sent[1]["Content-Type"] == "application/json")  // by the file's extension
        // The form is complete before the serializer and the adapter see it.
        for request in [signing.asked.elements[0], adapted.elements[0]] {
            #expect(request.value(forHTTPHeaderField: "Content-Type") == sent[0]["Content-Type"])
            #expect(request.value(forHTTPHeaderField: "Content-Length") == String(sent[0].body.count))
            #expect(try request.bodySource.map { try read($0) } == sent[0].body)
            #expect(request.timeoutInterval == 7)
        }
        #expect(signing.asked.elements[1].bodySource?.length == 70_000)
    }

    @Test func withoutParametersABodyStaysAsItIs() throws {
        let url = try #require(URL(string: "http://localhost/"))
        var own = URLRequest(url: url)
        own.httpMethod = "POST"
        own.httpBody = Data("own".utf8)
        let kept = try HTTPRequestSerializer().request(bySerializing: own, with: nil)
        #expect(kept.httpBody == own.httpBody && kept.value(forHTTPHeaderField: "Content-Type") == nil)
    }

    @Test(arguments: ["GET", "HEAD", "get"])
    func methodsWithoutABodyHaveNoForm(method: String) throws {
        let url = try #require(URL(string: "http://localhost/"))
        #expect(throws: RequestBodyError.methodWithoutBody(method)) {
            try HTTPRequestSerializer().multipartFormRequest(method: method, url: url)
        }
    }

    @Test func textThatTheEncodingLacksIsAnError() throws {
        let url = try #require(URL(string: "http://localhost/"))
        var serializer = JSONRequestSerializer()
        serializer.base.stringEncoding = .isoLatin1
        #expect(throws: RequestBodyError.unencodableText(part: "a", .isoLatin1)) {
            try serializer.multipartFormRequest(method: "POST", url: url, parameters: ["a": "日本"])
        }
        let request = try serializer.multipartFormRequest(method: "POST", url: url, parameters: ["a": "ä"])
        let body = try #require(request.bodySource)
        #expect(try read(body).range(of: Data([0x0D, 0x0A, 0xE4, 0x0D, 0x0A])) != nil)
    }

    @Test func arraysOfAFormAreWrittenAsInAQuery() throws {
        let url = try #require(URL(string: "http://localhost/"))
        let expected: [QueryString.ArrayStyle: [String]] = [
            .brackets: ["a[]", "a[]"], .indices: ["a[0]", "a[1]"], .repeated: ["a", "a"], .comma: ["a"],
        ]
        for (style, names) in expected {
            var serializer = HTTPRequestSerializer()
            serializer.arrayStyle = style
            let request = try serializer.multipartFormRequest(
                method: "POST",
                url: url,
                parameters: ["a": [1, 2]]
            )
            let body = try #require(request.bodySource)
            let text = try String(decoding: read(body), as: UTF8.self)
            #expect(text.matches(of: /name="(.*?)"/).map { String($0.1) } == names)
            #expect(text.contains("\r\n\r\n1,2\r\n") == (style == .comma))
        }
    }

    @Test func aFormCanBeWrittenToAFile() async throws {
        let url = try #require(URL(string: "http://localhost/"))
        let source = try file()
        let request = try form(url) { try $0.appendPart(withFileURL: source, name: "f") }
        let target = directory.file("form")
        let bare = try await HTTPRequestSerializer().request(
            withMultipartFormRequest: request,
            writingStreamContentsToFile: target
        )
        #expect(try Data(contentsOf: target) == request.bodySource.map { try read($0, by: 1 << 20) })
        #expect(bare.httpBodyStream == nil)
        #expect(bare.value(forHTTPHeaderField: "Content-Type")?.hasPrefix("multipart/form-data; ") == true)
        await #expect(throws: RequestBodyError.noBodySource) {
            try await HTTPRequestSerializer().request(
                withMultipartFormRequest: bare,
                writingStreamContentsToFile: target
            )
        }
    }

    // MARK: - The manager

    @Test(arguments: ["POST", "PUT", "PATCH"])
    func theManagerSendsForms(method: String) async throws {
        let server = try ScriptedServer([.respond(body: "done"), .respond(body: "done")])
        let manager = manager(server)
        let source = try file("photo.png", length: 1000)
        let build: @Sendable (inout MultipartFormData) throws -> Void = { form in
            try form.appendPart(withFileURL: source, name: "photo")
        }
        let objects = Recorder<Data>()
        let success: HTTPRequestOperation.SuccessHandler = { _, object in
            objects.append(object as? Data ?? Data())
        }
        let parameters = ["title": "A photo"]
        switch method {
        case "POST":
            _ = try await manager.post("a", parameters: .form(parameters, constructingBody: build))
            manager.post(
                "b",
                parameters: .form(parameters, constructingBody: build),
                success: success,
                failure: nil
            )
        case "PUT":
            _ = try await manager.put("a", parameters: .form(parameters, constructingBody: build))
            manager.put(
                "b",
                parameters: .form(parameters, constructingBody: build),
                success: success,
                failure: nil
            )
        default:
            _ = try await manager.patch("a", parameters: .form(parameters, constructingBody: build))
            manager.patch(
                "b",
                parameters: .form(parameters, constructingBody: build),
                success: success,
                failure: nil
            )
        }
        #expect(try await objects.wait() == [Data("done".utf8)])
        #expect(server.requests.map(\.method) == [method, method])
        #expect(server.requests.map(\.path) == ["/a", "/b"])
        for request in server.requests {
            #expect(request["Content-Length"] == String(request.body.count))
            #expect(request["Transfer-Encoding"] == nil)
            #expect(request.body.range(of: Data("name=\"title\"\r\n\r\nA photo\r\n".utf8)) != nil)
            #expect(request.body.range(of: PatternBody(length: 1000).data) != nil)
            #expect(request.body.range(of: Data("Content-Type: image/png\r\n".utf8)) != nil)
        }
    }

    @Test func whatTheClosureThrowsIsTheFailure() async throws {
        struct Stop: Error {}
        let manager = try manager(ScriptedServer([]))
        let failures = Recorder<Bool>()
        let operation = manager.post(
            "a",
            parameters: .form(constructingBody: { _ in throw Stop() }),
            success: nil,
            failure: { operation, error in failures.append(operation == nil && error is Stop) }
        )
        #expect(operation == nil)
        #expect(try await failures.wait() == [true])
        await #expect(throws: Stop.self) {
            try await manager.post("a", parameters: .form(constructingBody: { _ in throw Stop() }))
        }
    }

    @Test func filesAreSentAsTheyAre() async throws {
        let server = try ScriptedServer([.respond(), .respond(), .respond()])
        let manager = manager(server)
        let body = try BodySource.file(file())
        _ = try await manager.upload(body, to: "a")
        _ = try await manager.upload(.data(Data("x".utf8)), to: "b", method: "PUT")
        _ = try await manager.upload(body, to: "c", method: "PUT", headers: ["content-type": "text/x"])
        #expect(server.requests.map(\.method) == ["POST", "PUT", "PUT"])
        #expect(
            server.requests.map { $0["Content-Type"] } == [
                "application/json", "application/octet-stream", "text/x",
            ]
        )
        #expect(server.requests.map(\.body.count) == [700_000, 1, 700_000])
        #expect(server.requests[0].body == PatternBody(length: 700_000).data)
        await #expect(throws: RequestBodyError.methodWithoutBody("GET")) {
            try await manager.upload(body, to: "a", method: "GET")
        }
    }

    @Test func streamsWithoutALengthAreSentInChunks() async throws {
        let server = try ScriptedServer([.respond()])
        _ = try await manager(server).upload(.stream(InputStream(data: Data("all of it".utf8))), to: "a")
        #expect(server.requests[0]["Transfer-Encoding"] == "chunked")
        #expect(server.requests[0].text == "all of it")
    }

    // MARK: - Again

    @Test(arguments: [307, 308])
    func aRedirectThatKeepsTheMethodSendsTheFormAgain(status: Int) async throws {
        let server = try ScriptedServer([.redirect(to: "/there", statusCode: status), .respond()])
        let source = try file()
        let operation = HTTPRequestOperation(
            request: try form(server.url) { try $0.appendPart(withFileURL: source, name: "f") }
        )
        operation.completionQueue = callbacks
        let progress = Recorder<[Int64]>()
        operation.setUploadProgress { progress.append([Int64($0), $1, $2]) }
        operation.start()
        _ = try await operation.value
        callbacks.sync {}
        let length = Int64(server.requests[0].body.count)
        #expect(server.requests.map(\.path) == ["/", "/there"])
        #expect(server.requests[0].body == server.requests[1].body)
        #expect(progress.elements.last?.dropFirst() == [length, length])
        #expect(progress.elements.allSatisfy { $0[1] <= length && $0[2] == length })
    }

    @Test func aRedirectThatNeedsAStreamAgainIsATypedError() async throws {
        let server = try ScriptedServer([.redirect(to: "/there", statusCode: 307)])
        let operation = HTTPRequestOperation(
            request: try form(server.url) { form in
                try form.appendPart(
                    withInputStream: InputStream(data: Data("abc".utf8)),
                    name: "s",
                    fileName: "s",
                    length: 3,
                    mimeType: "a/b"
                )
            }
        )
        operation.completionQueue = callbacks
        operation.start()
        let error = await #expect(throws: URLError.self) { try await operation.value }
        #expect(error?.code == .requestBodyStreamExhausted)
        #expect(server.requests.count == 1)
    }

    @Test func aFormIsSentAgainWithAPassword() async throws {
        let server = try ScriptedServer { request in
            request["Authorization"] == nil ? .respond(401) : .respond(body: "done")
        }
        let source = try file()
        var request = try form(server.url) { try $0.appendPart(withFileURL: source, name: "f") }
        let first = HTTPRequestOperation(request: request)
        first.completionQueue = callbacks
        first.start()
        _ = try? await first.value
        #expect(first.response?.statusCode == 401)
        request.setValue("Basic YTpi", forHTTPHeaderField: "Authorization")
        let second = HTTPRequestOperation(request: request)
        second.completionQueue = callbacks
        second.start()
        #expect(try await second.value as? Data == Data("done".utf8))
        #expect(server.requests[0].body == server.requests[1].body)
    }

    @Test func copiesOfAnOperationShareAStreamThatCanBeReadOnce() async throws {
        let server = try ScriptedServer([.respond(500)])
        let operation = HTTPRequestOperation(request: URLRequest(url: server.url))
        operation.completionQueue = callbacks
        operation.bodySource = .stream(InputStream(data: Data("abc".utf8)), length: 3)
        let copy = try #require(operation.copy() as? HTTPRequestOperation)
        operation.start()
        _ = try? await operation.value
        copy.start()
        let error = await #expect(throws: URLError.self) { try await copy.value }
        #expect(error?.code == .requestBodyStreamExhausted)
        #expect(server.requests.map(\.text) == ["abc"])
    }

    @Test func aStaleConnectionMakesTheFormBeginAgain() async throws {
        let server = try ScriptedServer([.respond(), .hangUp, .respond(body: "done")])
        let manager = manager(server)
        _ = try await manager.get("a")
        let source = try file()
        let object = try await manager.put(
            "b",
            parameters: .form(constructingBody: { try $0.appendPart(withFileURL: source, name: "f") })
        )
        #expect(object as? Data == Data("done".utf8))
        #expect(server.requests[1].body == server.requests[2].body)
    }

    // MARK: - What goes wrong

    @Test func aFileThatChangesBeforeItIsSentIsTheOperationsError() async throws {
        let server = try ScriptedServer([])
        let source = try file()
        let operation = HTTPRequestOperation(
            request: try form(server.url) { try $0.appendPart(withFileURL: source, name: "f") }
        )
        operation.completionQueue = callbacks
        try Data("short".utf8).write(to: source)
        operation.start()
        let error = await #expect(throws: RequestBodyError.self) { try await operation.value }
        #expect(error == .fileChanged(path: source.path, expected: 700_000, found: 5))
    }

    @Test func anEarlyRefusalIsTheResponse() async throws {
        let server = try ScriptedServer([.respond(413, body: "too large")], requestBodies: .leave)
        let source = try file(length: 8_000_000)
        let operation = HTTPRequestOperation(
            request: try form(server.url) { try $0.appendPart(withFileURL: source, name: "f") }
        )
        operation.completionQueue = callbacks
        operation.start()
        _ = try? await operation.value
        // The server closes the connection while the body is on its way: what is seen is the answer or the reset.
        #expect(operation.response?.statusCode == 413 || operation.error is URLError)
        #expect(operation.error != nil)
    }

    // MARK: - Progress

    @Test(arguments: ["file", "form", "stream", "chunks", "data"])
    func theUploadsProgressEndsAtExactlyTheTotal(kind: String) async throws {
        let server = try ScriptedServer([.respond()])
        let source = try file()
        let data = PatternBody(length: 700_000).data
        var request = URLRequest(url: server.url)
        request.httpMethod = "POST"
        switch kind {
        case "file": request.bodySource = try .file(source)
        case "form": request = try form(server.url) { try $0.appendPart(withFileURL: source, name: "f") }
        case "stream": request.bodySource = .stream(InputStream(data: data), length: 700_000)
        case "chunks": request.bodySource = .stream(InputStream(data: data))
        default: request.bodySource = .data(data)
        }
        let operation = HTTPRequestOperation(request: request)
        operation.completionQueue = callbacks
        let progress = Recorder<[Int64]>()
        operation.setUploadProgress { progress.append([Int64($0), $1, $2]) }
        operation.start()
        _ = try await operation.value
        callbacks.sync {}
        let length = Int64(server.requests[0].body.count)
        #expect(length >= 700_000)
        #expect(progress.elements.last?.dropFirst() == [length, kind == "chunks" ? -1 : length])
        #expect(progress.elements.map { $0[0] }.reduce(0, +) == length)
        #expect(operation.metrics?.bytesSent == length)
    }
}
