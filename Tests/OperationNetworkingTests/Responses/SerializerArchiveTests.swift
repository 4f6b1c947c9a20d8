import Foundation
import FoundationNetworking
import FoundationXML
import OperationNetworking
import Testing

@testable import OperationNetworkingTestSupport

/// F34: every serializer comes back from its archive as it was.
@Suite struct SerializerArchiveTests {
    private func again<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    }

    /// Foundation would end the process.
    @Test(arguments: [(5, -1), (-1, 5), (Int.max, 5), (Int.max - 1, Int.max), (Int.min, Int.max)])
    func invalidStatusCodesDoNotTrap(lower: Int, upper: Int) throws {
        let whole = try JSONEncoder().encode(HTTPResponseSerializer())
        let text = String(decoding: whole, as: UTF8.self).replacing("[200,300]", with: "[\(lower),\(upper)]")
        let archive = Data(text.utf8)
        #expect(archive != whole)
        guard lower <= upper else {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(HTTPResponseSerializer.self, from: archive)
            }
            return
        }
        let serializer = try JSONDecoder().decode(HTTPResponseSerializer.self, from: archive)
        #expect(serializer.acceptableStatusCodes?.contains(-1) == false)
    }

    /// Nothing else of it is read.
    @Test func anUnknownFormatIsAnErrorWithAReason() throws {
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let operation = try #require(HTTPRequestOperation(request: URLRequest(url: url)).archive)
        try expectRefusal(of: operation)
        try expectRefusal(of: OperationManager().archive)
        try expectRefusal(of: HTTPSessionManager(baseURL: nil).archive)
        try expectRefusal(of: SessionConfiguration())
        try expectRefusal(of: HTTPRequestSerializer())
        try expectRefusal(of: HTTPResponseSerializer())
        try expectRefusal(of: TransferSettings())
        try expectRefusal(of: SecurityPolicy())
        try expectRefusal(of: RetryPolicy())
        try expectRefusal(of: RedirectPolicy())
        try expectRefusal(of: Timeouts())
    }

    private func expectRefusal<Value: Codable>(of value: Value) throws {
        #expect(throws: Never.self) { try again(value) }
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Value.self, from: Data(#"{"format": 2}"#.utf8))
        }
        #expect("\(try #require(error))".contains("has format 2"))
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Value.self, from: Data("{}".utf8)) }
    }

    @Test func statusCodesAreRestored() throws {
        var serializer = HTTPResponseSerializer()
        for codes in [nil, IndexSet(), IndexSet([200, 201, 204, 404]), IndexSet(integersIn: 0...999)] {
            serializer.acceptableStatusCodes = codes
            #expect(try again(serializer) == serializer)
        }
    }

    // MARK: - Requests

    private func settings() throws -> HTTPRequestSerializer {
        var serializer = HTTPRequestSerializer()
        try serializer.setValue("marked", forHTTPHeaderField: "X-Marked")
        serializer.setValue(nil, forHTTPHeaderField: "User-Agent")
        serializer.setAuthorization(username: "user", password: "password")
        serializer.stringEncoding = .isoLatin1
        serializer.httpMethodsEncodingParametersInURI = ["GET", "PURGE"]
        serializer.arrayStyle = .comma
        serializer.timeoutInterval = 5
        serializer.cachePolicy = .reloadIgnoringLocalCacheData
        serializer.httpShouldHandleCookies = false
        return serializer
    }

    private func expectSettings(_ serializer: HTTPRequestSerializer) throws {
        let original = try settings()
        #expect(serializer.httpRequestHeaders == original.httpRequestHeaders)
        #expect(serializer.value(forHTTPHeaderField: "User-Agent") == nil)
        #expect(serializer.stringEncoding == .isoLatin1)
        #expect(serializer.httpMethodsEncodingParametersInURI == ["GET", "PURGE"])
        #expect(serializer.arrayStyle == .comma)
        #expect(serializer.timeoutInterval == 5)
        #expect(serializer.cachePolicy == .reloadIgnoringLocalCacheData)
        #expect(serializer.httpShouldHandleCookies == false)
    }

    @Test func formsKeepAllSettings() throws {
        try expectSettings(again(settings()))
        let plain = try again(HTTPRequestSerializer())
        #expect(
            plain.timeoutInterval == nil && plain.cachePolicy == nil && plain.httpShouldHandleCookies == nil
        )
        #expect(plain.httpRequestHeaders == HTTPRequestSerializer().httpRequestHeaders)
    }

    @Test func jsonKeepsAllSettings() throws {
        var serializer = JSONRequestSerializer(writingOptions: [.sortedKeys, .prettyPrinted])
        serializer.base = try settings()
        let copy = try again(serializer)
        #expect(copy.writingOptions == [.sortedKeys, .prettyPrinted])
        try expectSettings(copy.base)
    }

    @Test func propertyListsKeepAllSettings() throws {
        var serializer = PropertyListRequestSerializer(format: .binary, writeOptions: 0)
        serializer.base = try settings()
        let copy = try again(serializer)
        #expect(copy.format == .binary)
        try expectSettings(copy.base)
    }

    @Test func closuresAreNotKeptSilently() throws {
        var form = HTTPRequestSerializer()
        form.queryStringSerialization = { _, _ in "" }
        let error = #expect(throws: EncodingError.self) { try again(form) }
        #expect("\(try #require(error))".contains("queryStringSerialization"))
        var json = JSONRequestSerializer()
        json.makeEncoder = { JSONEncoder() }
        #expect(throws: EncodingError.self) { try again(json) }
    }

    @Test func anArchiveThatSmugglesAFieldIsRefused() throws {
        let archive = try JSONEncoder().encode(settings())
        let hostile = String(decoding: archive, as: UTF8.self)
            .replacing("\"marked\"", with: "\"1\\r\\nX-Other: 2\"")
        #expect(throws: RequestSerializationError.invalidFieldValue(name: "X-Marked")) {
            try JSONDecoder().decode(HTTPRequestSerializer.self, from: Data(hostile.utf8))
        }
    }

    // MARK: - Responses

    @Test func responseSerializersKeepAllSettings() throws {
        var http = HTTPResponseSerializer(acceptableContentTypes: ["a/b"])
        http.acceptableStatusCodes = [200, 404]
        #expect(try again(http) == http)
        http.acceptableStatusCodes = nil
        http.acceptableContentTypes = nil
        #expect(try again(http) == http)

        var json = JSONResponseSerializer(readingOptions: .fragmentsAllowed)
        json.removesKeysWithNullValues = true
        json.acceptableStatusCodes = [201]
        json.acceptableContentTypes = ["a/b"]
        #expect(try again(json) == json)

        var parser = XMLParserResponseSerializer()
        parser.acceptableContentTypes = nil
        #expect(try again(parser) == parser)

        var document = XMLDocumentResponseSerializer(options: .nodePreserveWhitespace)
        document.acceptableStatusCodes = nil
        #expect(try again(document) == document)
        #expect(try again(document) != XMLDocumentResponseSerializer())

        var list = PropertyListResponseSerializer()
        list.acceptableContentTypes = ["a/b"]
        #expect(try again(list) == list)

        var image = ImageHeadResponseSerializer(scale: 3)
        image.acceptableStatusCodes = [203]
        #expect(try again(image) == image)
    }

    @Test("3.3: a compound serializer keeps its children")
    func compounds() throws {
        var json = JSONResponseSerializer()
        json.removesKeysWithNullValues = true
        let inner = CompoundResponseSerializer([ImageHeadResponseSerializer(scale: 2)])
        var compound = CompoundResponseSerializer([
            json, inner, HTTPResponseSerializer(), XMLParserResponseSerializer(),
            XMLDocumentResponseSerializer(),
            PropertyListResponseSerializer(),
        ])
        compound.acceptableStatusCodes = [200]
        let copy = try again(compound)
        #expect(copy.serializers.count == 6)
        #expect(copy.serializers[0] as? JSONResponseSerializer == json)
        let innerCopy = try #require(copy.serializers[1] as? CompoundResponseSerializer)
        #expect(
            innerCopy.serializers[0] as? ImageHeadResponseSerializer == ImageHeadResponseSerializer(scale: 2)
        )
        #expect(copy.serializers[2] is HTTPResponseSerializer)
        #expect(copy.serializers[3] is XMLParserResponseSerializer)
        #expect(copy.serializers[4] is XMLDocumentResponseSerializer)
        #expect(copy.serializers[5] is PropertyListResponseSerializer)
        #expect(copy.acceptableStatusCodes == [200])
    }

    private struct Own: ResponseSerializer {
        func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? { nil }
    }

    @Test func aChildOfAnotherKindIsNotKeptSilently() throws {
        #expect(throws: EncodingError.self) { try again(CompoundResponseSerializer([Own()])) }
        let compound = CompoundResponseSerializer([DecodableResponseSerializer(Int.self)])
        #expect(throws: EncodingError.self) { try again(compound) }
    }

    // MARK: - Kinds of other modules

    private struct Lines: ArchivableResponseSerializer, Equatable {
        static let archiveName = "tests.Lines"
        var separator = ","

        func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
            data.map { String(decoding: $0, as: UTF8.self).components(separatedBy: separator) }
        }
    }

    @Test func aCodableSerializerOfAnotherModuleIsKept() throws {
        let manager = OperationManager()
        manager.responseSerializer = Lines(separator: ";")
        let copy = OperationManager(archive: try again(manager.archive))
        #expect(copy.responseSerializer as? Lines == Lines(separator: ";"))
        let compound = try again(CompoundResponseSerializer([Lines(), HTTPResponseSerializer()]))
        #expect(compound.serializers[0] as? Lines == Lines())
    }

    @Test func aKindThatTheProcessDoesNotKnowIsAnErrorThatNamesIt() throws {
        struct Unknown: ArchivableResponseSerializer {
            func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? { nil }
        }
        let manager = OperationManager()
        manager.responseSerializer = Lines()
        let text = String(decoding: try JSONEncoder().encode(manager.archive), as: UTF8.self)
        let other = text.replacingOccurrences(of: "tests.Lines", with: Unknown.archiveName)
        #expect(other != text && Unknown.archiveName.contains("Unknown"))
        let error = try #require(throws: DecodingError.self) {
            try JSONDecoder().decode(OperationManagerArchive.self, from: Data(other.utf8))
        }
        #expect("\(error)".contains("Unknown") && "\(error)".contains("registerForArchives"))
    }

    // MARK: - Managers

    @Test func anInvalidNumberOfOperationsIsTheDefault() throws {
        let data = try JSONEncoder().encode(OperationManager().archive)
        var fields = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        fields["maxConcurrentOperationCount"] = -2
        let damaged = try JSONSerialization.data(withJSONObject: fields)
        let archive = try JSONDecoder().decode(OperationManagerArchive.self, from: damaged)
        #expect(OperationManager(archive: archive).operationQueue.maxConcurrentOperationCount == -1)
    }

    @Test func aManagerKeepsItsSettings() throws {
        let manager = OperationManager(baseURL: URL(string: "http://localhost/v1"))
        var json = JSONRequestSerializer()
        json.base = try settings()
        manager.requestSerializer = json
        manager.responseSerializer = CompoundResponseSerializer([XMLParserResponseSerializer()])
        manager.trustAnchors = .file(URL(fileURLWithPath: "/ca.pem"))
        manager.operationQueue.maxConcurrentOperationCount = 3
        #expect(OperationManager(archive: try again(manager.archive)).retryPolicy == nil)
        manager.retryPolicy = RetryPolicy(maximumRetries: 7)
        let copy = OperationManager(archive: try again(manager.archive))
        #expect(copy.baseURL?.absoluteString == "http://localhost/v1/")
        try expectSettings(#require(copy.requestSerializer as? JSONRequestSerializer).base)
        let compound = try #require(copy.responseSerializer as? CompoundResponseSerializer)
        #expect(compound.serializers.first is XMLParserResponseSerializer)
        #expect(copy.trustAnchors == .file(URL(fileURLWithPath: "/ca.pem")))
        #expect(copy.operationQueue.maxConcurrentOperationCount == 3)
        #expect(copy.operationQueue.operationCount == 0)
        #expect(copy.retryPolicy == RetryPolicy(maximumRetries: 7))
        manager.responseSerializer = Own()
        #expect(throws: EncodingError.self) { try manager.archive }
    }
}
