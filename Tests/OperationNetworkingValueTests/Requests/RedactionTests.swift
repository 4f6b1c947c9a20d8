import Foundation
import FoundationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

struct RedactionTests {
    @Test(arguments: [
        ("a\nb\u{85}c\u{1B}", "a b c "), ("a\u{2028}b\u{2029}c", "a b c"),
        ("gpj.\u{202E}exe\u{202C}", "gpj. exe "),
        ("\u{2066}a\u{2069}\u{200E}\u{200F}\u{61C}", " a    "), ("日本語 👩‍💻 é", "日本語 👩‍💻 é"),
    ])
    func aTextIsOnOneLineInItsOrder(text: String, expected: String) {
        #expect(Redaction.singleLine(text) == expected)
    }

    @Test(arguments: [
        ("https://example.com/a?b=1", "https://example.com/a?b=1"),
        ("https://example.com", "https://example.com"),
        ("https://user:secret@example.com/", "https://REDACTED@example.com/"),
        ("https://user@example.com:80?x", "https://REDACTED@example.com:80?x"),
        ("https://a@b:c@example.com/@x", "https://REDACTED@example.com/@x"),
        ("https://example.com/?token=1&a=2", "https://example.com/?token=REDACTED&a=2"),
        (
            "https://example.com/?X-Amz-Signature=1&X-Amz-Date=2",
            "https://example.com/?X-Amz-Signature=REDACTED&X-Amz-Date=2"
        ),
        ("https://example.com/?sig=a%3D=&se=1", "https://example.com/?sig=REDACTED&se=1"),
        ("https://example.com/?p%61ssword=1", "https://example.com/?p%61ssword=REDACTED"),
        ("https://example.com/?token", "https://example.com/?token"),
        ("https://example.com/#access_token=1", "https://example.com/#REDACTED"),
        ("https://example.com/?a=1#", "https://example.com/?a=1#"),
        ("https://example.com/?api_key=1#x?y", "https://example.com/?api_key=REDACTED#REDACTED"),
        ("http://h/?a=1;password=2;b=3&c", "http://h/?a=1;password=REDACTED;b=3&c"),
        ("http://h/?token=1;2&a=b;c", "http://h/?token=REDACTED&a=b;c"),
        ("no URL", "no URL"), ("", ""),
    ])
    func urls(text: String, expected: String) {
        #expect(Redaction.text(ofURL: text) == expected)
    }

    @Test(arguments: [
        (#"{"user": "a", "password" : "b\"c", "n": 1}"#, #"{"user": "a", "password" : "REDACTED", "n": 1}"#),
        (#"{"a":{"token":12.5e3,"b":[]}}"#, #"{"a":{"token":"REDACTED","b":[]}}"#),
        (#"{"secret":null,"keys":["a"]}"#, #"{"secret":null,"keys":["a"]}"#), ("[1, 2]", "[1, 2]"),
        (#"{"a":"password","b":"x"}"#, #"{"a":"password","b":"x"}"#),
        (#"["a","password":"x"]"#, #"["a","password":"REDACTED"]"#),
        (#"abc" "password":"x""#, #"abc" "password":"REDACTED""#),
        (#"{"password":"x"#, #"{"password":"x"#), (#""\""#, #""\""#),
        ("\"token\"\n:\t-1", "\"token\"\n:\t\"REDACTED\""),
        (
            #"{"token":"a","token":"b","token":{"x":1}}"#,
            #"{"token":"REDACTED","token":"REDACTED","token":{"x":1}}"#
        ),
    ])
    func json(text: String, expected: String) {
        #expect(Redaction.json(text) == expected)
    }

    /// As 100 KB of JSON within JSON are, which took minutes.
    @Test(.timeLimit(.minutes(1))) func jsonWithinJSONTakesNoLongerThanOther() {
        let inner = String(repeating: #"\"a\":1,"#, count: 100_000)
        let text = #"{"events":["{\#(inner)}"],"password":"x"}"#
        #expect(Redaction.json(text) == #"{"events":["{\#(inner)}"],"password":"REDACTED"}"#)
        let open = String(repeating: "\"", count: 100_001)
        #expect(Redaction.json(open) == open)
    }

    @Test func forms() {
        #expect(Redaction.form("user=a&passwd=b&&c") == "user=a&passwd=REDACTED&&c")
    }

    @Test(arguments: [
        "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "X-Auth-Token",
        "X-Session-Id", "X-JWT", "db_pass", "X-Pwd", "client_assertion", "X-Hub-Hmac",
    ])
    func fieldsThatAreSecret(name: String) {
        #expect(Redaction.isSecret(name))
        #expect(Redaction.isSecret(name.lowercased()))
    }

    @Test(arguments: SecretFields.names.union(SecretFields.credentials).sorted())
    func fieldsForOneOriginOnlyAreSecret(name: String) throws {
        #expect(Redaction.isSecret(name))
        var request = URLRequest(url: try #require(URL(string: "http://h/")))
        request.setValue("s3cret", forHTTPHeaderField: name)
        let record = RequestRecord(request)
        // A proxy's is for no server.
        let names = name == "Proxy-Authorization" ? [] : [name.lowercased()]
        #expect(record.selectingFields == [:] && record.secretFields == names)
    }

    /// A checkpoint has none of them either.
    @Test func theAppsOwnSecretIsNoneOfARecord() throws {
        var request = URLRequest(url: try #require(URL(string: "http://h/")))
        request.setValue("alice", forHTTPHeaderField: "X-Acme-Member")
        request.setValue("1", forHTTPHeaderField: "X-Acme")
        let identity = RequestIdentity(request, secretFields: ["x-acme-member"])
        let record = RequestRecord(request, as: identity)
        #expect(record.selectingFields == ["x-acme": "1"] && record.secretFields == ["x-acme-member"])
    }

    @Test(arguments: [
        "Accept", "Content-Type", "Host", "Range", "If-Match", "Referer", "author_name".uppercased(),
        "compass", "X-Status-Code", "passport",
    ])
    func fieldsThatAreNot(name: String) {
        #expect(Redaction.isSecret(name) == name.lowercased().contains("auth"))
    }

    @Test func anErrorRepeatsNoSecretAndEndsNoLine() throws {
        let url = try #require(URL(string: "https://u:hunter2@example.com/?token=abc"))
        var request = URLRequest(url: url)
        request.setValue("Bearer xyz", forHTTPHeaderField: "Authorization")
        let error = TestSentence(description: "No \(url) with hunter2 and Bearer xyz\r\nfake line")
        #expect(
            Redaction.text(of: error, in: request)
                == "No https://REDACTED@example.com/?token=REDACTED with REDACTED and REDACTED  fake line"
        )
    }

    /// Whether the address is that of the operation or not.
    @Test func theSentencesOfErrorsHaveNoSecretsOfAddresses() throws {
        let text = "https://u:hunter2@example.com/a?b=1&X-Amz-Signature=s3cret"
        let url = try #require(URL(string: text))
        let manager = OperationManager(baseURL: URL(string: "http://h/?token=s3cret"))
        let badPath = #expect(throws: URLError.self) { try OperationManager().url(for: "a?token=s3cret") }
        let badBase = #expect(throws: URLError.self) { try manager.url(for: "a") }
        let errors: [any Error] = [
            RequestAdapterError.originChanged(url), StubError.unmatched(method: "GET", url: url),
            RequestSerializationError.invalidURL(text), RequestBodyError.notAFileURL(text),
            OutputFileError.notAFileURL(url), DownloadError.invalidDestination(url), try #require(badPath),
            try #require(badBase),
        ]
        let request = URLRequest(url: try #require(URL(string: "http://other/")))
        for error in errors {
            for sentence in [Redaction.text(of: error, in: request), error.localizedDescription] {
                #expect(!sentence.contains("s3cret") && !sentence.contains("hunter2"), "\(sentence)")
                #expect(sentence.contains("REDACTED"), "\(sentence)")
            }
        }
    }

    @Test func theDescriptionsOfObjectsHaveNoSecretsOfAddresses() throws {
        let text = "https://u:hunter2@example.com/a?b=1&X-Amz-Signature=s3cret"
        let url = try #require(URL(string: text))
        let session = URLSessionManager()
        let task = session.dataTask(with: URLRequest(url: url), completion: nil)
        let shown = "https://example.com/a?b=1&X-Amz-Signature=REDACTED"
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        #expect(operation.description.contains("GET \(shown),"))
        #expect(task.description.contains("GET \(shown),"))
        let base = "https://u:hunter2@example.com/a/?X-Amz-Signature=s3cret"
        let descriptions = [
            OperationManager(baseURL: URL(string: base)).description,
            HTTPSessionManager(baseURL: URL(string: base)).description,
        ]
        let address = ": https://example.com/a/?X-Amz-Signature=REDACTED"
        for description in descriptions {
            #expect(description.contains(address) && !description.contains("s3cret"), "\(description)")
        }
    }

    @Test func aLongErrorIsCutOffAfterItsSecrets() throws {
        var request = URLRequest(url: try #require(URL(string: "https://example.com/")))
        request.setValue("Bearer xyz", forHTTPHeaderField: "Authorization")
        let error = TestSentence(description: String(repeating: "a", count: 495) + "Bearer xyz and more")
        let expected = String(repeating: "a", count: 495) + "REDAC…"
        #expect(Redaction.text(of: error, in: request) == expected)
        // One character, of any number of scalars.
        let accents = TestSentence(description: "a" + String(repeating: "\u{301}", count: 100_000))
        #expect(Redaction.text(of: accents, in: request).unicodeScalars.count == 501)
        let foreign = URLError(
            .badServerResponse,
            url: nil,
            sentence: String(repeating: "a", count: 100_000)
        )
        #expect(Redaction.text(of: foreign, in: request).count == 501)
    }

    private struct TestSentence: Error, CustomStringConvertible {
        let description: String
    }

    /// As written by a caller: without a scheme, or with another address in the query.
    @Test(arguments: [
        "login?next=https://app/&token=s3cret", "login?token=s3cret&next=https://app/",
        "bob:s3cret@example.com/a", "//bob:s3cret@h/a", "https://bob:s3cret@h/a?b=1",
    ])
    func aTextThatIsNoWholeURLShowsNoSecret(text: String) {
        let shown = Redaction.text(ofURL: text)
        #expect(!shown.contains("s3cret"))
        #expect(Redaction.text(ofURL: "users/@me?page=2") == "users/@me?page=2")
    }
}
