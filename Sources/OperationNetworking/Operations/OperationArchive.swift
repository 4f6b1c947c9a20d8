import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// The lasting parts of an operation, for a later process: the request, the destination of its body, the
/// policies of retries, servers, proxies and redirects, the authentication schemes and the sources of
/// credentials, the response serializer, and the results if there are any.
///
/// A body of data and files is kept, the files by their names. Not kept: closures, queues, streams, secrets
/// (a ``ClientIdentity``, a proxy's credentials), cookies (a jar of its own comes back empty), a serializer
/// of a kind of your own that is no ``ArchivableResponseSerializer``, or one that decodes values of a type.
///
/// A finished operation comes back finished, with its response, metrics, error and body; its object is made
/// from the body again, if the serializer is kept or given. An unfinished operation comes back ready to
/// start:
///
/// | Not finished, with some of its body                       | The later process                            |
/// |-----------------------------------------------------------|----------------------------------------------|
/// | a ``DownloadOperation``                                   | goes on by its checkpoint, on the disk       |
/// | a GET into memory, with a strong validator, in no coding  | asks for the rest, by `If-Range`: the bytes are in the archive |
/// | any other operation, or one with an `outputFile`          | asks for the whole                           |
///
/// Stored properties: 19. They are the keys of the form in which earlier versions wrote it.
public struct OperationArchive: Codable, Sendable {
    /// The request, as given.
    public var request: URLRequest {
        var request = URLRequest(url: url, timeoutInterval: timeoutInterval.value)
        if let policy = cachePolicy.flatMap(URLRequest.CachePolicy.init) { request.cachePolicy = policy }
        if let handlesCookies { request.httpShouldHandleCookies = handlesCookies }
        request.httpMethod = method
        request.allHTTPHeaderFields = fields
        if let bodyArchive { request.bodySource = bodyArchive.body } else { request.httpBody = body }
        return request
    }

    private let url: URL
    private let method: String?
    private let fields: [String: String]
    private let body: Data?
    private let bodyArchive: BodyArchive?
    private let timeoutInterval: ArchivedSeconds
    /// `nil`, as the next one: as it is unless set.
    private let cachePolicy: UInt?
    private let handlesCookies: Bool?
    private let outputFile: URL?
    private let settings: TransferSettingsArchive
    private let isFinished: Bool
    private let response: Response?
    private let responseData: Data?
    private let failure: Failure?
    private let metrics: TransferMetricsArchive?
    /// `nil`: as they are unless set.
    private let limits: Limits?
    private let bodySoFar: EarlierBodyArchive?
    /// `nil`: the operation was no download.
    var download: DownloadArchive?
    /// `nil`: there is none, or none that can be kept.
    var responseSerializer: ResponseSerializerArchive?

    private struct Response: Codable {
        let url: URL
        let status: Int
        let fields: [String: String]
    }

    private struct Limits: Codable {
        let responseDataLength: Int
        let decodedLength: Int64
    }

    private struct Failure: Codable {
        let domain: String
        let code: Int
        let sentence: String
        let traits: FailureTraitsArchive?

        init(_ error: any Error) {
            let plain = error as NSError
            domain = plain.domain
            code = plain.code
            sentence = plain.localizedDescription
            traits = FailureTraitsArchive(FailureTraits(of: error))
        }

        /// Foundation's errors come back as what they were, a refused status as that, and others as an
        /// `NSError` of the same domain and code. A ``RequestFailure`` of it answers as before.
        func error(_ url: URL, _ response: ReceivedResponse?, _ data: Data?) -> any Error {
            if domain == NSURLErrorDomain, let code = URLError.Code(rawValue: code) {
                return URLError(code, url: url, sentence: sentence)
            }
            if domain == ResponseSerializationError.errorDomain,
                code == URLError.Code.badServerResponse.rawValue, let status = traits?.statusCode
            {
                return ResponseSerializationError(
                    .unacceptableStatusCode(status),
                    response: response,
                    data: data
                )
            }
            var userInfo: [String: Any] = [NSLocalizedDescriptionKey: sentence]
            userInfo[FailureTraits.key] = traits?.traits
            return NSError(domain: domain, code: code, userInfo: userInfo)
        }
    }

    /// `nil` for a request without a URL, and for an operation that would need a stream again. `soFar` are
    /// the bytes that it had, if it is not finished.
    init?(_ state: OperationState, _ soFar: EarlierBody?) {
        guard let url = state.request.url else { return nil }
        self.url = url
        method = state.request.httpMethod
        fields = state.request.allHTTPHeaderFields ?? [:]
        body = state.request.httpBody
        bodyArchive = state.request.bodySource.flatMap(BodyArchive.init)
        timeoutInterval = ArchivedSeconds(state.request.timeoutInterval)
        let policy = state.request.cachePolicy
        cachePolicy = policy == .useProtocolCachePolicy ? nil : policy.rawValue
        handlesCookies = state.request.httpShouldHandleCookies ? nil : false
        outputFile = state.configuration.outputFile
        settings = TransferSettingsArchive(state.configuration.settings)
        limits = Limits(
            responseDataLength: Int(state.configuration.memoryLimit),
            decodedLength: state.configuration.maximumDecodedLength
        )
        isFinished = state.machine.phase == .finished
        bodySoFar =
            isFinished
            ? nil
            : soFar.flatMap {
                EarlierBodyArchive($0, isOfNamedUser: state.namesUser, under: state.verification)
            }
        guard isFinished || bodyArchive != nil || state.request.httpBodyStream == nil else { return nil }
        response = (state.results.response?.value).flatMap { [isFinished] response in
            guard isFinished, let url = response.url else { return nil }
            let fields = response.allHeaderFields.map {
                (String(describing: $0.key), String(describing: $0.value))
            }
            return Response(
                url: url,
                status: response.statusCode,
                fields: Dictionary(fields, uniquingKeysWith: { $1 })
            )
        }
        responseData = isFinished ? state.results.responseData : nil
        failure = state.results.error.map(Failure.init)
        metrics = isFinished ? (state.results.metrics?.sum).map(TransferMetricsArchive.init) : nil
    }

    /// Puts back what was kept.
    func restore(_ state: inout OperationState) {
        state.configuration.outputFile = outputFile
        settings.restore(&state.configuration.settings)
        if let limits {
            state.configuration.memoryLimit = Int64(limits.responseDataLength)
            state.configuration.maximumDecodedLength = limits.decodedLength
        }
        guard isFinished else { return state.earlierBody = bodySoFar?.body }
        state.machine = .finished
        state.place.restoreEnd()
        (state.isDelivered, state.isTold) = (true, true)
        state.results.restore(
            ExchangeEnd(error: nil, data: responseData, metrics: TransferLog(metrics?.metrics ?? .init())),
            hasSerializer: responseSerializer != nil
        )
        state.results.response = response.flatMap {
            NamedResponse(
                url: $0.url,
                statusCode: $0.status,
                httpVersion: "HTTP/1.1",
                headerFields: $0.fields
            ).map { ReceivedResponse($0) }
        }
        state.results.error = failure.map { $0.error(url, state.results.response, responseData) }
    }
}
