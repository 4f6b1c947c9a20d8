import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite struct HTTPRequestSerializerTests {
    let serializer = HTTPRequestSerializer()
    let url: URL

    init() throws {
        url = try #require(URL(string: "http://example.com/path"))
    }

    // MARK: - Parameters

    @Test func ofTwoNamesThatDifferInCaseTheLastInOrderCounts() throws {
        let names = (0..<32).map { "X-\($0)" }
        var headers: [String: String] = [:]
        for name in names {
            headers[name] = "upper"
            headers[name.lowercased()] = "lower"
        }
        let url = try #require(URL(string: "http://h/"))
        let request = try HTTPRequestSerializer().request(
            method: "GET",
            url: url,
            parameters: nil,
            headers: headers
        )
        for name in names { #expect(request.value(forHTTPHeaderField: name) == "lower") }
    }

    @Test("HRS-01, O5-17: the parameters of a POST are a form")
    func postsAForm() throws {
        let request = try serializer.request(method: "POST", url: url, parameters: ["key": "value"])
        #expect(request.httpBody == Data("key=value".utf8))
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/x-www-form-urlencoded")
        #expect(request.url == url)
    }

    @Test("HRS-02: a POST without parameters has a content type and an empty body")
    func postsAnEmptyForm() throws {
        let request = try serializer.request(method: "POST", url: url, parameters: nil)
        #expect(request.httpBody == Data())
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/x-www-form-urlencoded")
    }

    @Test("HRS-03: the parameters of a GET are the query", arguments: ["GET", "HEAD", "DELETE", "get"])
    func asksWithAQuery(method: String) throws {
        let request = try serializer.request(method: method, url: url, parameters: ["key": "value"])
        #expect(request.url?.query == "key=value")
        #expect(request.httpBody == nil)
        #expect(request.value(forHTTPHeaderField: "Content-Type") == nil)
    }

    @Test(arguments: [
        ("http://h/a", "http://h/a?k=v"),
        ("http://h", "http://h?k=v"),
        ("http://h/a?b=c", "http://h/a?b=c&k=v"),
        ("http://h/a?", "http://h/a?k=v"),
        ("http://h/a?b=c&", "http://h/a?b=c&k=v"), ("http://h/a?b=really?", "http://h/a?b=really?&k=v"),
        ("http://h/a??", "http://h/a??&k=v"), ("http://h/R&", "http://h/R&?k=v"),
        ("http://h/a#f?g", "http://h/a?k=v#f?g"),
        ("http://h/a?b=%20#f", "http://h/a?b=%20&k=v#f"),
    ])
    func addsTheQueryBehindTheURLsOwn(before: String, after: String) throws {
        let url = try #require(URL(string: before))
        let request = try serializer.request(method: "GET", url: url, parameters: ["k": "v"])
        #expect(request.url?.absoluteString == after)
    }

    @Test func anEmptyDictionaryAddsNoQuestionMark() throws {
        let request = try serializer.request(method: "GET", url: url, parameters: [String: String]())
        #expect(request.url == url)
    }

    @Test("HRS-06: a custom query string replaces the encoding", arguments: ["GET", "POST"])
    func usesTheCallersQuery(method: String) throws {
        var serializer = serializer
        serializer.queryStringSerialization = { _, _ in "a[]=x%2Fy z" }
        let escaped = try serializer.request(
            method: "GET",
            url: try #require(URL(string: "http://h/%20?b=%26")),
            parameters: ["k": "v"]
        )
        #expect(escaped.url?.absoluteString == "http://h/%20?b=%26&a%5B%5D=x%2Fy%20z")
        serializer.queryStringSerialization = { _, parameters in
            let dictionary = try #require(parameters as? [String: String])
            return dictionary.map { "\($0)**\($1)" }.joined()
        }
        let request = try serializer.request(method: method, url: url, parameters: ["key": "value"])
        let body = request.httpBody.map { String(decoding: $0, as: UTF8.self) }
        #expect((method == "GET" ? request.url?.query : body) == "key**value")
    }

    @Test("HRS-10, F30: an error of the caller's query is what the request throws")
    func throwsTheErrorOfTheCallersQuery() throws {
        struct Refusal: Error {}
        var serializer = serializer
        serializer.queryStringSerialization = { _, _ in throw Refusal() }
        #expect(throws: Refusal.self) {
            try serializer.request(method: "GET", url: url, parameters: ["key": "value"])
        }
        #expect(try serializer.request(method: "GET", url: url, parameters: nil).url == url)
    }

    @Test func aQueryThatIsNotEscapedDoesNotTrap() throws {
        var serializer = serializer
        serializer.queryStringSerialization = { _, _ in "a b\"^" }
        let request = try serializer.request(method: "GET", url: url, parameters: [String: Int]())
        #expect(request.url?.absoluteString == "http://example.com/path?a%20b%22%5E")
    }

    @Test func refusesParametersThatAreNotADictionary() {
        #expect(throws: RequestSerializationError.unsupportedParameters(type: "Array<Int>")) {
            try serializer.request(method: "GET", url: url, parameters: [1, 2])
        }
    }

    @Test func aBodyThatItsEncodingCannotHoldIsAnError() {
        var serializer = serializer
        serializer.stringEncoding = .ascii
        serializer.queryStringSerialization = { _, _ in "é" }
        #expect(throws: RequestSerializationError.unencodableBody(.ascii)) {
            try serializer.request(method: "POST", url: url, parameters: ["k": "v"])
        }
    }

    @Test func theCallersContentTypeStays() throws {
        let headers = ["content-type": "text/plain"]
        let request = try serializer.request(method: "PUT", url: url, parameters: nil, headers: headers)
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "text/plain")
    }

    // MARK: - Fields

    @Test("HRS-08: a value that was set is read back, whatever the case of its name")
    func readsAFieldBack() throws {
        var serializer = serializer
        try serializer.setValue("one", forHTTPHeaderField: "X-Test")
        try serializer.setValue("two", forHTTPHeaderField: "x-test")
        #expect(serializer.value(forHTTPHeaderField: "X-TEST") == "two")
        #expect(serializer.httpRequestHeaders.keys.filter { $0.lowercased() == "x-test" }.count == 1)
        serializer.setValue(nil, forHTTPHeaderField: "X-TEST")
        #expect(serializer.value(forHTTPHeaderField: "X-Test") == nil)
    }

    @Test("HRS-09: a field that was not set is nil")
    func readsNilForAnUnsetField() {
        #expect(serializer.value(forHTTPHeaderField: "X-Test") == nil)
    }

    @Test func fieldsOfTheRequestWinOverTheSerializers() throws {
        var serializer = serializer
        try serializer.setValue("serializer", forHTTPHeaderField: "X-One")
        try serializer.setValue("serializer", forHTTPHeaderField: "X-Two")
        let request = try serializer.request(
            method: "GET",
            url: url,
            parameters: nil,
            headers: ["x-one": "request"]
        )
        #expect(request.value(forHTTPHeaderField: "X-One") == "request")
        #expect(request.value(forHTTPHeaderField: "X-Two") == "serializer")
    }

    @Test func setsAndClearsBasicAuthorization() {
        var serializer = serializer
        serializer.setAuthorization(username: "Aladdin", password: "open sesame")
        #expect(serializer.value(forHTTPHeaderField: "authorization") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        serializer.setAuthorization(username: "test", password: "123£")
        #expect(serializer.value(forHTTPHeaderField: "Authorization") == "Basic dGVzdDoxMjPCow==")
        serializer.clearAuthorization()
        #expect(serializer.value(forHTTPHeaderField: "Authorization") == nil)
    }

    @Test("O5-02, O5-10: a field is set, replaced, read and removed; so is Authorization")
    func changesFields() throws {
        var serializer = serializer
        try serializer.setValue("header", forHTTPHeaderField: "X-Some-Header")
        try serializer.setValue("other", forHTTPHeaderField: "X-Some-Header")
        serializer.setAuthorization(username: "username", password: "password")
        #expect(serializer.value(forHTTPHeaderField: "X-Some-Header") == "other")
        #expect(serializer.value(forHTTPHeaderField: "Authorization") == "Basic dXNlcm5hbWU6cGFzc3dvcmQ=")
        serializer.setValue(nil, forHTTPHeaderField: "X-Some-Header")
        serializer.clearAuthorization()
        let request = try serializer.request(method: "GET", url: url, parameters: nil)
        #expect(request.value(forHTTPHeaderField: "X-Some-Header") == nil)
        #expect(request.value(forHTTPHeaderField: "Authorization") == nil)
    }

    @Test func setsAToken() throws {
        func token<Serializer: TokenAuthorizing>(_ token: String, of serializer: Serializer) throws -> String?
        {
            var serializer = serializer
            try serializer.authorize(token: token)
            return serializer.value(forHTTPHeaderField: "Authorization")
        }
        #expect(try token("abc", of: serializer) == #"Token token="abc""#)
        #expect(try token("abc", of: JSONRequestSerializer()) == #"Token token="abc""#)
        #expect(try token(#"a"b\c"#, of: serializer) == #"Token token="a\"b\\c""#)
        #expect(throws: RequestSerializationError.invalidFieldValue(name: "Authorization")) {
            try token("a\r\nX-Injected: b", of: serializer)
        }
    }

    @Test("F32: fields set in many tasks during serialization do not interfere")
    func copiesInManyTasksStayApart() async throws {
        let (original, url) = (serializer, url)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<500 {
                group.addTask {
                    var copy = original
                    try copy.setValue("\(number)", forHTTPHeaderField: "X-Number")
                    let own = try copy.request(method: "POST", url: url, parameters: ["n": number])
                    let plain = try original.request(method: "POST", url: url, parameters: ["n": number])
                    return own.value(forHTTPHeaderField: "X-Number") == "\(number)"
                        && plain.value(forHTTPHeaderField: "X-Number") == nil
                        && own.httpBody == Data("n=\(number)".utf8) && own.httpBody == plain.httpBody
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(original.value(forHTTPHeaderField: "X-Number") == nil)
    }

    @Test(arguments: ["a\r\nX-Injected: b", "a\nb", "a\rb", "a\0b", "a\u{7F}b", "\u{1B}[0m"])
    func refusesAValueThatWouldNotStayOneValue(value: String) throws {
        var serializer = serializer
        let before = serializer.httpRequestHeaders
        let error = RequestSerializationError.invalidFieldValue(name: "X-Test")
        #expect(throws: error) { try serializer.setValue(value, forHTTPHeaderField: "X-Test") }
        #expect(serializer.httpRequestHeaders == before)
        #expect(throws: error) {
            try serializer.request(method: "GET", url: url, parameters: nil, headers: ["X-Test": value])
        }
    }

    /// Where Foundation is asked instead, it drops the field and says nothing, before this library sees the
    /// request: Security.md describes it. If this fails, Foundation has changed, and Security.md is wrong.
    @Test(arguments: ["a\r\nX-Injected: b", "a\nb", "a\rb", "a\0b", "\r\n"])
    func foundationDropsAValueThatWouldNotStayOneValue(value: String) throws {
        var request = URLRequest(url: url)
        request.setValue(value, forHTTPHeaderField: "X-Test")
        request.addValue(value, forHTTPHeaderField: "X-Other")
        #expect(request.allHTTPHeaderFields ?? [:] == [:])
        request.setValue("before", forHTTPHeaderField: "X-Test")
        request.setValue(value, forHTTPHeaderField: "X-Test")
        #expect(request.allHTTPHeaderFields == ["X-Test": "before"])
        // In one piece it takes them, and then it is an error here.
        request.allHTTPHeaderFields = ["X-Test": value]
        #expect(throws: RequestSerializationError.invalidFieldValue(name: "X-Test")) {
            try serializer.request(bySerializing: request, with: nil)
        }
    }

    @Test(arguments: ["", "a b", "a:", "a\r\nb", "a\0", "é", "(a)", "a\"b"])
    func refusesANameThatIsNotAToken(name: String) {
        var serializer = serializer
        let error = RequestSerializationError.invalidFieldName(name)
        #expect(throws: error) { try serializer.setValue("value", forHTTPHeaderField: name) }
        #expect(throws: error) {
            try serializer.request(method: "GET", url: url, parameters: nil, headers: [name: "value"])
        }
    }

    @Test(arguments: ["", "GET /", "GET\r\nHost: x", "G\0"])
    func refusesAMethodThatIsNotAToken(method: String) {
        #expect(throws: RequestSerializationError.invalidMethod(method)) {
            try serializer.request(method: method, url: url, parameters: nil)
        }
    }

    @Test(arguments: ["text", "tab\tand space", "grüße", ""])
    func allowsValuesOfVisibleText(value: String) throws {
        var serializer = serializer
        try serializer.setValue(value, forHTTPHeaderField: "X-Test")
        #expect(serializer.value(forHTTPHeaderField: "X-Test") == value)
    }

    // MARK: - Settings

    @Test("O5-16: the default string encoding is UTF-8")
    func encodesAsUTF8() {
        #expect(serializer.stringEncoding == .utf8)
    }

    @Test func writesArraysInTheStyleThatIsSet() throws {
        var serializer = serializer
        serializer.arrayStyle = .indices
        let asked = try serializer.request(method: "GET", url: url, parameters: ["k": [1, 2]])
        #expect(asked.url?.query == "k%5B0%5D=1&k%5B1%5D=2")
        serializer.arrayStyle = .comma
        let posted = try serializer.request(method: "POST", url: url, parameters: ["k": [1, 2]])
        #expect(posted.httpBody == Data("k=1,2".utf8))
    }

    @Test func unsetSettingsAreFoundationsDefaults() throws {
        let request = try serializer.request(method: "GET", url: url, parameters: nil)
        let plain = URLRequest(url: url)
        #expect(request.timeoutInterval == plain.timeoutInterval)
        #expect(request.cachePolicy == plain.cachePolicy)
        #expect(request.httpShouldHandleCookies == plain.httpShouldHandleCookies)
    }

    @Test("F33: settings are applied, and a copy has them all")
    func appliesSettings() throws {
        var original = serializer
        original.timeoutInterval = 7
        original.cachePolicy = .reloadIgnoringLocalCacheData
        original.httpShouldHandleCookies = false
        original.httpMethodsEncodingParametersInURI = ["PROPFIND"]
        try original.setValue("x", forHTTPHeaderField: "X-Test")
        let copy: any RequestSerializer = original
        let request = try copy.request(method: "PROPFIND", url: url, parameters: ["a": 1], headers: [:])
        #expect(request.timeoutInterval == 7)
        #expect(request.cachePolicy == .reloadIgnoringLocalCacheData)
        #expect(!request.httpShouldHandleCookies)
        #expect(request.url?.query == "a=1")
        #expect(request.value(forHTTPHeaderField: "X-Test") == "x")
    }

    @Test func aCustomSerializerNeedsOneMethod() throws {
        struct Marking: RequestSerializer {
            func request(bySerializing request: URLRequest, with parameters: Any?) -> URLRequest {
                var request = request
                request.setValue("yes", forHTTPHeaderField: "X-Marked")
                return request
            }
        }
        let request = try Marking().request(method: "PUT", url: url, parameters: nil, headers: ["X-Own": "1"])
        #expect(request.httpMethod == "PUT")
        #expect(request.value(forHTTPHeaderField: "X-Marked") == "yes")
        #expect(request.value(forHTTPHeaderField: "X-Own") == "1")
    }

    /// The short form is the serializer's own long one, whatever the static type says.
    @Test(
        arguments: [HTTPRequestSerializer(), JSONRequestSerializer(), PropertyListRequestSerializer()]
            as [any RequestSerializer]
    )
    func theShortFormHasTheSettings(serializer: any RequestSerializer) throws {
        var serializer = serializer
        try serializer.setTimeoutInterval(7)
        try serializer.setValue("x", forHTTPHeaderField: "X-Test")
        let request = try serializer.request(method: "POST", url: url, parameters: nil)
        #expect(request.timeoutInterval == 7 && request.value(forHTTPHeaderField: "X-Test") == "x")
        try serializer.setTimeoutInterval(nil)
        #expect(try serializer.request(method: "POST", url: url, parameters: nil).timeoutInterval == 60)
        try serializer.setCachePolicy(.returnCacheDataElseLoad)
        try serializer.setHTTPShouldHandleCookies(false)
        let other = try serializer.request(method: "GET", url: url, parameters: nil)
        #expect(other.cachePolicy == .returnCacheDataElseLoad && !other.httpShouldHandleCookies)
    }

    @Test func aCustomSerializerHasItsSettingsInTheShortForm() throws {
        struct Patient: RequestSerializer {
            func request(bySerializing request: URLRequest, with parameters: Any?) -> URLRequest { request }
            func emptyRequest(method: String, url: URL, headers: [String: String]) -> URLRequest {
                URLRequest(url: url, timeoutInterval: 99)
            }
        }
        let serializers: [any RequestSerializer] = [Patient()]
        for serializer in serializers {
            #expect(try serializer.request(method: "GET", url: url, parameters: nil).timeoutInterval == 99)
        }
        #expect(try Patient().request(method: "GET", url: url, parameters: nil).timeoutInterval == 99)
        var patient = Patient()
        func lacks(_ setting: String) -> RequestSerializationError {
            .settingNotSupported(setting, serializer: "Patient")
        }
        #expect(throws: lacks("timeoutInterval")) { try patient.setTimeoutInterval(5) }
        #expect(throws: lacks("cachePolicy")) { try patient.setCachePolicy(.useProtocolCachePolicy) }
        #expect(throws: lacks("httpShouldHandleCookies")) { try patient.setHTTPShouldHandleCookies(true) }
    }
}

/// Calls what is deprecated without a warning.
private protocol TokenAuthorizing: RequestSerializer {
    mutating func authorize(token: String) throws(RequestSerializationError)
}

extension HTTPRequestSerializer: TokenAuthorizing {
    @available(*, deprecated)
    mutating func authorize(token: String) throws(RequestSerializationError) {
        try setAuthorization(token: token)
    }
}

extension JSONRequestSerializer: TokenAuthorizing {
    @available(*, deprecated)
    mutating func authorize(token: String) throws(RequestSerializationError) {
        var serializer: any RequestSerializer = self
        try serializer.setAuthorization(token: token)
        let value = serializer.value(forHTTPHeaderField: "Authorization")
        try setValue(value, forHTTPHeaderField: "Authorization")
    }

    /// Methods are distinguished by case (RFC 9110 §9.1).
    @Test(arguments: [("get", "GET"), ("Patch", "PATCH"), ("PURGE", "PURGE"), ("notify", "notify")])
    func sendsACustomMethodUnchanged(method: String, sent: String) async throws {
        let server = try ScriptedServer([.respond(204)])
        var request = URLRequest(url: server.url)
        request.httpMethod = method
        let operation = HTTPRequestOperation(request: request)
        operation.start()
        _ = try await operation.value
        #expect(server.requests.map(\.method) == [sent])
    }
}
