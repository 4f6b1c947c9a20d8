import Foundation
public import FoundationNetworking
internal import OperationNetworkingSystem

/// The persistent state of an operation, for a later process: the request, the destination of its body, the
/// policies of retries, servers, proxies and redirects, the authentication schemes and the sources of
/// credentials, the response serializer, and the results if there are any.
///
/// A body of data and files is archived, the files by their names. Not archived: closures, queues, streams,
/// a ``ClientIdentity``, a proxy's credentials, cookies (a private jar is restored empty), a custom
/// serializer that is not an ``ArchivableResponseSerializer``, and a serializer that decodes values of a
/// type.
///
/// A finished operation is restored as finished, with its response, metrics, error and body; its object is
/// made from the body again if the serializer is archived or passed. An unfinished operation is restored
/// ready to start:
///
/// | Not finished, with some of its body              | The later process                                  |
/// |--------------------------------------------------|----------------------------------------------------|
/// | a ``DownloadOperation``                          | resumes from its checkpoint, on disk               |
/// | a GET into memory, strong validator, no coding   | requests the rest with `If-Range`                  |
/// | any other operation, or one with an `outputFile` | requests the whole body                            |
///
/// The bytes of the GET into memory are part of the archive.
///
/// The request is archived as given, including an `Authorization` field and a password in its URL: protect
/// the archive. Credentials, tokens and cookies of a jar are not archived. If they were sent, the last 64 KiB
/// are requested again and compared before the bytes are kept: another user's version may have the same entity
/// tag.
public struct OperationArchive: Codable, Sendable {
    private var format = ArchiveFormat()
    private let requestArchive: RequestArchive
    private let outputFile: URL?
    private let settings: TransferSettings
    private let maximumResponseDataLength: Int
    private let maximumDecodedLength: Int64
    private let bodySoFar: EarlierBodyArchive?
    /// `nil` if the operation had not finished.
    private let end: EndArchive?
    /// `nil` if the operation was not a download.
    var download: DownloadArchive?
    /// `nil` if there is none that can be archived.
    var responseSerializer: ResponseSerializerArchive?

    /// The request, as given.
    public var request: URLRequest { requestArchive.request }

    /// Returns `nil` for a request without a URL, and for an operation that would need a stream again.
    /// `soFar` has the bytes received so far, if the operation is not finished.
    init?(_ state: OperationState, _ soFar: EarlierBody?) {
        let isFinished = state.machine.phase == .finished
        guard let request = RequestArchive(state.request, needsBody: !isFinished) else { return nil }
        requestArchive = request
        outputFile = state.configuration.outputFile
        settings = state.configuration.settings.encoded
        maximumResponseDataLength = Int(state.configuration.memoryLimit)
        maximumDecodedLength = state.configuration.maximumDecodedLength
        end = isFinished ? EndArchive(state.results) : nil
        bodySoFar =
            isFinished
            ? nil
            : soFar.flatMap {
                EarlierBodyArchive($0, isOfNamedUser: state.namesUser, under: state.verification)
            }
    }

    /// Restores the archived state.
    func restore(_ state: inout OperationState) {
        state.configuration.outputFile = outputFile
        state.configuration.settings.takeEncoded(of: settings)
        state.configuration.memoryLimit = Int64(maximumResponseDataLength)
        state.configuration.maximumDecodedLength = maximumDecodedLength
        guard let end else { return state.earlierBody = bodySoFar?.body }
        state.machine = .finished
        state.place.restoreEnd()
        (state.isDelivered, state.isCompletionDelivered) = (true, true)
        state.results.restore(
            ExchangeEnd(error: nil, data: end.data, metrics: TransferLog(end.metrics)),
            hasSerializer: responseSerializer != nil
        )
        state.results.response = end.response?.response
        state.results.error = end.failure?.error(requestArchive.url, state.results.response, end.data)
    }
}

/// A download's additional part of an archive. The bytes of an incomplete download are in its partial file,
/// with a checkpoint.
struct DownloadArchive: Codable, Sendable {
    var options: DownloadOptions
    /// Whether it was asked for only if the server has another file.
    var isConditional: Bool
    /// The complete file.
    var file: DownloadedFile?
}

/// A request with a body of data and files, the files by their names.
private struct RequestArchive: Codable, Sendable {
    private enum Segment: Codable {
        case data(Data)
        case file(path: String, length: UInt64)
    }

    let url: URL
    private let method: String?
    private let fields: [String: String]
    private let timeout: CodedDouble
    private let cachePolicy: RawCoded<URLRequest.CachePolicy>
    private let handlesCookies: Bool
    private let body: Data?
    /// The segments of a ``BodySource``; the next property belongs to it, too.
    private let segments: [Segment]?
    private let maximumRate: Int64?

    /// `nil` for a request without a URL, and if the body is needed and contains a stream, which does not
    /// survive its process.
    init?(_ request: URLRequest, needsBody: Bool) {
        guard let url = request.url else { return nil }
        self.url = url
        method = request.httpMethod
        fields = request.allHTTPHeaderFields ?? [:]
        timeout = CodedDouble(request.timeoutInterval)
        cachePolicy = RawCoded(request.cachePolicy)
        handlesCookies = request.httpShouldHandleCookies
        body = request.httpBody
        let segments = request.bodySource?.segments.compactMap { segment -> Segment? in
            switch segment {
            case .data(let data): .data(data)
            case .file(let path, let length): .file(path: path, length: UInt64(clamping: length))
            case .stream: nil
            }
        }
        let isWhole = segments?.count == request.bodySource?.segments.count
        self.segments = isWhole ? segments : nil
        maximumRate = request.bodySource?.maximumRate
        guard !needsBody || self.segments != nil || request.httpBodyStream == nil else { return nil }
    }

    /// The request. A file that has changed since is an error when it is read.
    var request: URLRequest {
        var request = URLRequest(url: url, cachePolicy: cachePolicy.value, timeoutInterval: timeout.value)
        request.httpShouldHandleCookies = handlesCookies
        request.httpMethod = method
        request.allHTTPHeaderFields = fields
        guard let segments else {
            request.httpBody = body
            return request
        }
        let source = segments.map { segment -> BodySegment in
            switch segment {
            case .data(let data): .data(data)
            case .file(let path, let length): .file(path: path, length: Int64(clamping: length))
            }
        }
        request.bodySource = BodySource(source, maximumRate: maximumRate)
        return request
    }
}

/// The results of an operation.
private struct EndArchive: Codable, Sendable {
    struct Response: Codable {
        private let url: URL
        private let status: Int
        private let fields: [String: String]

        init?(_ response: HTTPURLResponse) {
            guard let url = response.url else { return nil }
            self.url = url
            status = response.statusCode
            let fields = response.allHeaderFields.map {
                (String(describing: $0.key), String(describing: $0.value))
            }
            self.fields = Dictionary(fields, uniquingKeysWith: { $1 })
        }

        var response: ReceivedResponse? {
            NamedResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
                .map { ReceivedResponse($0) }
        }
    }

    struct Failure: Codable {
        private let domain: String
        private let code: Int
        private let sentence: String
        private let traits: FailureTraits

        init(_ error: any Error) {
            let plain = error as NSError
            domain = plain.domain
            code = plain.code
            sentence = plain.localizedDescription
            traits = FailureTraits(of: error)
        }

        /// Returns the error. Foundation's errors and errors about a status keep their type; others become an
        /// `NSError` of the same domain and code. A ``RequestFailure`` of it gives the same answers as
        /// before.
        func error(_ url: URL, _ response: ReceivedResponse?, _ data: Data?) -> any Error {
            if domain == NSURLErrorDomain, let code = URLError.Code(rawValue: code) {
                return URLError(code, url: url, sentence: sentence)
            }
            if domain == ResponseSerializationError.errorDomain,
                code == URLError.Code.badServerResponse.rawValue, let status = traits.statusCode
            {
                return ResponseSerializationError(
                    .unacceptableStatusCode(status),
                    response: response,
                    data: data
                )
            }
            return NSError(
                domain: domain,
                code: code,
                userInfo: [NSLocalizedDescriptionKey: sentence, FailureTraits.key: traits]
            )
        }
    }

    let response: Response?
    let data: Data?
    let failure: Failure?
    let metrics: TransferMetrics

    init(_ results: OperationResults) {
        response = (results.response?.value).flatMap { Response($0) }
        data = results.responseData
        failure = results.error.map { Failure($0) }
        metrics = results.metrics?.sum ?? TransferMetrics()
    }
}
