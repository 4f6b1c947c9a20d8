import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// AFNetworking's own tests of `AFHTTPSessionManager`, replayed against httpbin by their behavior: HSM are those of 2.7,
/// the others came later. `Tests/AFNetworking.md` has those that cannot be replayed, with reasons.
@Suite(.enabled(if: RealServers.httpbin != nil), .timeLimit(.minutes(1)))
struct AFHTTPSessionManagerTests {
    private let session: HTTPSessionManager

    init() {
        session = HTTPSessionManager.forTests(RealServers.httpbin)
    }

    private func url(_ path: String) throws -> URL { try session.url(for: path) }

    @Test("HSM-01 testThatOperationInvokesCompletionHandlerWithResponseObjectOnSuccess")
    func success() async throws {
        let ends = TaskEnds()
        session.dataTask(with: URLRequest(url: try url("get")), completion: ends.handler).resume()
        let end = try await ends.wait()
        #expect(end.object is [String: any Sendable] && end.error == nil)
    }

    @Test("HSM-02 testThatOperationInvokesFailureCompletionBlockWithErrorOnFailure")
    func failure() async throws {
        let ends = TaskEnds()
        session.dataTask(with: URLRequest(url: try url("status/404")), completion: ends.handler).resume()
        #expect(try await ends.wait().error != nil)
    }

    @Test("HSM-03 testThatRedirectBlockIsCalledWhen302IsEncountered")
    func redirect() async throws {
        let redirects = Recorder<Int>()
        session.setTaskWillPerformHTTPRedirection { _, response, request in
            redirects.append(response.statusCode)
            return request
        }
        let ends = TaskEnds()
        let task = session.dataTask(with: URLRequest(url: try url("redirect/1")), completion: ends.handler)
        task.resume()
        let end = try await ends.wait()
        #expect(end.object != nil && end.error == nil && redirects.elements == [302])
        #expect(try task.currentRequest.url == url("get"))
    }

    @Test("HSM-04 testDownloadFileCompletionSpecifiesURLInCompletionWithManagerDidFinishBlock")
    func destinationOfTheManager() async throws {
        let folder = try TemporaryDirectory()
        let asked = Gate()
        session.setDownloadTaskDidFinishDownloading { _, _ in
            asked.open()
            return folder.file()
        }
        let ends = TaskEnds()
        session.downloadTask(
            with: URLRequest(url: try url("get")),
            progress: nil,
            destination: nil,
            completion: ends.fileHandler
        ).resume()
        let end = try await ends.wait()
        #expect(end.file == folder.file() && end.error == nil && asked.isOpen)
    }

    @Test("HSM-05 testDownloadFileCompletionSpecifiesURLInCompletionBlock")
    func destinationOfTheTask() async throws {
        let folder = try TemporaryDirectory()
        let ends = TaskEnds()
        session.downloadTask(
            with: URLRequest(url: try url("get")),
            progress: nil,
            destination: { _, _ in folder.file() },
            completion: ends.fileHandler
        ).resume()
        let end = try await ends.wait()
        #expect(end.file == folder.file() && end.error == nil)
        #expect(try Data(contentsOf: folder.file()).isEmpty == false)
    }

    @Test("HSM-06 testThatSerializationErrorGeneratesErrorAndNullTaskForGET")
    func serializationError() async throws {
        var serializer = HTTPRequestSerializer()
        serializer.queryStringSerialization = { _, _ in throw CocoaError(.featureUnsupported) }
        session.requestSerializer = serializer
        let ends = TaskEnds()
        let task = session.get(
            "get",
            parameters: ["key": "value"],
            success: ends.success,
            failure: ends.failure
        )
        #expect(task == nil)
        let end = try await ends.wait()
        #expect(end.error != nil && end.response == nil)
    }

    // MARK: - 3.x: the verbs

    @Test("testGET")
    func get() async throws {
        let ends = TaskEnds()
        let progress = Recorder<Double>()
        session.get(
            "get",
            progress: { progress.append($0.fractionCompleted) },
            success: ends.success,
            failure: ends.failure
        )
        #expect(try await ends.wait().object != nil)
        #expect(progress.elements.last == 1)
    }

    @Test("testHEAD")
    func head() async throws {
        let ends = TaskEnds()
        session.head("get", success: ends.success, failure: ends.failure)
        let end = try await ends.wait()
        #expect(end.error == nil && end.response?.statusCode == 200)
    }

    @Test("testPOST")
    func post() async throws {
        let object = try await session.post("post", parameters: ["key": "value"])
        let form = (object as? [String: any Sendable])?["form"] as? [String: any Sendable]
        #expect(form?["key"] as? String == "value")
    }

    @Test("testPOSTWithConstructingBody")
    func form() async throws {
        let ends = TaskEnds()
        session.post(
            "post",
            parameters: .form(
                ["key": "value"],
                constructingBody: { form in
                    try form.appendPart(
                        withFileData: Data("Data".utf8),
                        name: "DataName",
                        fileName: "DataFileName",
                        mimeType: "data"
                    )
                }
            ),
            success: ends.success,
            failure: ends.failure
        )
        let object = try await ends.wait().object as? [String: any Sendable]
        #expect((object?["files"] as? [String: any Sendable])?["DataName"] as? String == "Data")
        #expect((object?["form"] as? [String: any Sendable])?["key"] as? String == "value")
    }

    // Those that AFNetworking 3 kept for a while: the verbs without `progress:`.

    @Test("testDeprecatedGET")
    func getWithoutProgress() async throws {
        let ends = TaskEnds()
        session.get("get", parameters: ["key": "value"], success: ends.success, failure: ends.failure)
        let object = try await ends.wait().object as? [String: any Sendable]
        #expect((object?["args"] as? [String: any Sendable])?["key"] as? String == "value")
    }

    @Test("testDeprecatedPOST")
    func postWithoutProgress() async throws {
        let ends = TaskEnds()
        session.post("post", parameters: ["key": "value"], success: ends.success, failure: ends.failure)
        let object = try await ends.wait().object as? [String: any Sendable]
        #expect((object?["form"] as? [String: any Sendable])?["key"] as? String == "value")
    }

    @Test("testDeprecatedPOSTWithConstructingBody")
    func formWithoutProgress() async throws {
        let ends = TaskEnds()
        session.post(
            "post",
            parameters: .form(constructingBody: {
                $0.appendPart(withFormData: Data("Data".utf8), name: "DataName")
            }),
            success: ends.success,
            failure: ends.failure
        )
        let object = try await ends.wait().object as? [String: any Sendable]
        #expect((object?["form"] as? [String: any Sendable])?["DataName"] as? String == "Data")
    }

    @Test("testPUT, testPATCH, testDELETE", arguments: ["put", "patch", "delete"])
    func otherVerbs(_ verb: String) async throws {
        let parameters: [String: any Sendable] = ["key": "value"]
        let object =
            switch verb {
            case "put": try await session.put("put", parameters: parameters)
            case "patch": try await session.patch("patch", parameters: parameters)
            default: try await session.delete("delete", parameters: parameters)
            }
        let place = verb == "delete" ? "args" : "form"
        let values = (object as? [String: any Sendable])?[place] as? [String: any Sendable]
        #expect(values?["key"] as? String == "value")
    }

    @Test("testHiddenBasicAuthentication")
    func hiddenBasicAuthentication() async throws {
        var serializer = HTTPRequestSerializer()
        serializer.setAuthorization(username: "user", password: "password")
        session.requestSerializer = serializer
        #expect(try await session.get("hidden-basic-auth/user/password") != nil)
    }

    @Test(
        """
        testInvalidServerTrustProducesCorrectErrorForCertificatePinning, \
        testInvalidServerTrustProducesCorrectErrorForPublicKeyPinning, \
        testThatServerTrustErrorIsCreatedWithProperUserInfoWithAllParameters
        """,
        arguments: [SecurityPolicy.PinningMode.certificate, .publicKey]
    )
    func invalidServerTrust(_ mode: SecurityPolicy.PinningMode) async throws {
        let url = try #require(NginxTLSServer.good.url)
        var configuration = SessionConfiguration()
        configuration.settings.trustAnchors = try .certificates(TestCertificates.all("root"))
        configuration.settings.securityPolicy = SecurityPolicy(
            pinningMode: mode,
            pinnedCertificates: try TestCertificates.all("other-leaf-chain")
        )
        let session = HTTPSessionManager.forTests(url, configuration)
        let ends = TaskEnds()
        session.get("1k.bin", success: ends.success, failure: ends.failure)
        let end = try await ends.wait()
        let error = try #require(end.error as? ServerTrustError)
        #expect(error.host == "localhost" && end.response == nil)
        let failing = (error as NSError).userInfo[NSURLErrorFailingURLErrorKey] as? URL
        #expect(failing == url.appendingPathComponent("1k.bin"))
    }

    @Test("testSharedManagerIsNotEqualToInitedManager, in 3.2 testSharedManagerIsNotEqualToInitdManager")
    func managersAreNotShared() {
        #expect(HTTPSessionManager() !== session && HTTPSessionManager() !== HTTPSessionManager())
    }

    // MARK: - 3.x: progress and results

    @Test("testDownloadProgressIsReportedForGET")
    func downloadProgressOfGet() async throws {
        let ends = TaskEnds()
        let progress = Recorder<Double>()
        session.responseSerializer = HTTPResponseSerializer()
        session.get(
            "bytes/50000",
            progress: { progress.append($0.fractionCompleted) },
            success: ends.success,
            failure: ends.failure
        )
        let end = try await ends.wait()
        #expect((end.object as? Data)?.count == 50_000 && progress.elements.last == 1)
    }

    @Test("testUploadProgressIsReportedForPOST")
    func uploadProgressOfPost() async throws {
        let ends = TaskEnds()
        let progress = Recorder<Double>()
        session.post(
            "post",
            parameters: ["key": String(repeating: "value", count: 10_000)],
            progress: { progress.append($0.fractionCompleted) },
            success: ends.success,
            failure: ends.failure
        )
        #expect(try await ends.wait().error == nil && progress.elements.last == 1)
    }

    @Test("testUploadProgressIsReportedForStreamingPost")
    func uploadProgressOfAStream() async throws {
        let ends = TaskEnds()
        let progress = Recorder<Double>()
        session.post(
            "post",
            parameters: .form(constructingBody: { form in
                try form.appendPart(
                    withFileData: Data(repeating: 7, count: 100_000),
                    name: "file",
                    fileName: "file",
                    mimeType: "application/octet-stream"
                )
            }),
            progress: { progress.append($0.fractionCompleted) },
            success: ends.success,
            failure: ends.failure
        )
        #expect(try await ends.wait().error == nil && progress.elements.last == 1)
    }

    @Test("testThatSuccessBlockIsCalledFor200, testThatFailureBlockIsCalledFor404", arguments: [200, 404])
    func statusDecides(_ status: Int) async throws {
        session.responseSerializer = HTTPResponseSerializer()
        let ends = TaskEnds()
        session.get("status/\(status)", success: ends.success, failure: ends.failure)
        let end = try await ends.wait()
        #expect((end.error == nil) == (status == 200) && end.response?.statusCode == status)
    }

    @Test("testThatResponseObjectIsEmptyFor204")
    func noContentHasNoObject() async throws {
        #expect(try await session.get("status/204") == nil)
    }

    // MARK: - 3.x: pins and base URLs

    /// There an exception when it was set; here no request is sent, and the error says why. A session without
    /// a base URL may have pins: they are for its requests over TLS.
    @Test(
        """
        testInvalidCertificatePinningSecurityPolicy, testInvalidPublicKeyPinningSecurityPolicy, \
        testInvalidCertificatePinningSecurityPolicyWithoutBaseURL, \
        testInvalidPublicKeyPinningSecurityPolicyWithoutBaseURL
        """,
        arguments: [SecurityPolicy.PinningMode.certificate, .publicKey],
        [true, false]
    )
    func pinsAreNotSentWithoutTLS(_ mode: SecurityPolicy.PinningMode, hasBaseURL: Bool) async throws {
        let session = hasBaseURL ? session : HTTPSessionManager.forTests(nil)
        session.securityPolicy = SecurityPolicy(pinningMode: mode)
        let ends = TaskEnds()
        session.get(try url("get").absoluteString, success: ends.success, failure: ends.failure)
        let end = try await ends.wait()
        #expect((end.error as? ServerTrustError)?.check == .encryption && end.response == nil)
    }

    @Test(
        """
        testValidCertificatePinningSecurityPolicy, testValidPublicKeyPinningSecurityPolicy, \
        testValidSecureNoPinningSecurityPolicy
        """,
        arguments: [SecurityPolicy.PinningMode.certificate, .publicKey, .none]
    )
    func pinsMayBeSetOverTLS(_ mode: SecurityPolicy.PinningMode) async throws {
        let url = try #require(NginxTLSServer.good.url)
        var configuration = SessionConfiguration()
        configuration.settings.trustAnchors = try .certificates(TestCertificates.all("root"))
        let session = HTTPSessionManager.forTests(url, configuration)
        session.responseSerializer = HTTPResponseSerializer()
        session.securityPolicy = SecurityPolicy(
            pinningMode: mode,
            pinnedCertificates: mode == .none ? [] : try TestCertificates.all("root")
        )
        #expect(try await (session.get("1k.bin") as? Data)?.count == 1_024)
    }

    @Test("testValidInsecureNoPinningSecurityPolicy")
    func withoutPinsAndWithoutTLS() async throws {
        session.securityPolicy = SecurityPolicy(pinningMode: .none)
        #expect(try await session.get("get") != nil)
    }

    // MARK: - 4.x: fields and challenges

    @Test("testSettingHTTPHeadersPerRequestCanReplaceTheDefaultValueSpecifiedInRequestSerializer")
    func fieldsOfOneRequest() async throws {
        var serializer = HTTPRequestSerializer()
        try serializer.setValue("foo value", forHTTPHeaderField: "X-Foo")
        try serializer.setValue("bar value", forHTTPHeaderField: "X-Bar")
        session.requestSerializer = serializer
        let echo = try await session.get("get", headers: ["X-Foo": "request value"])
        let fields = (echo as? [String: any Sendable])?["headers"] as? [String: any Sendable]
        #expect(fields?["X-Foo"] as? String == "request value")
        #expect(fields?["X-Bar"] as? String == "bar value")
    }

    @Test("testAuthenticationChallengeHandlerCredentialResult")
    func challenge() async throws {
        session.setTaskDidReceiveAuthenticationChallenge { _, challenge in
            challenge.realm == "Fake Realm"
                ? .use(Credential(user: "user", password: "passwd")) : .performDefaultHandling
        }
        #expect(try await session.get("basic-auth/user/passwd") != nil)
    }

    // MARK: - 3.x: copies and archives

    @Test("testCanBeEncoded, testCanBeDecoded, testSupportsSecureCoding")
    func archive() throws {
        let archive = try JSONEncoder().encode(session.archive)
        let restored = HTTPSessionManager(
            archive: try JSONDecoder().decode(SessionManagerArchive.self, from: archive)
        )
        #expect(restored.baseURL == session.baseURL)
    }

    @Test("testCanBeCopied")
    func copied() throws {
        let copy = try #require(session.copy() as? HTTPSessionManager)
        #expect(copy !== session && copy.baseURL == session.baseURL)
        #expect(copy.responseSerializer is JSONResponseSerializer)
        #expect(session.copied().baseURL == session.baseURL)
    }
}
