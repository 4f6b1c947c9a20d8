import Foundation
import FoundationNetworking

/// Bytes with validators that answer conditional and range requests.
///
/// | Request                                      | Response                             |
/// |----------------------------------------------|--------------------------------------|
/// | `If-Match`, `If-Unmodified-Since` not met    | 412                                  |
/// | `If-None-Match`, `If-Modified-Since` not met | 304                                  |
/// | GET, one range, `If-Range` met or missing    | 206, or 416 if it is not satisfiable |
/// | any other GET or HEAD                        | 200                                  |
/// | another method                               | 405                                  |
///
/// Evaluated in the order of [RFC 9110 §13.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-13.2.2).
/// Several ranges are answered with the whole body.
struct StubRepresentation: Sendable {
    var body: Data
    var contentType: String?
    var entityTag: String?
    var lastModified: HTTPDate?
    var fields: HeaderFields

    /// Returns the response to a request.
    func message(for request: URLRequest) -> StubMessage {
        let method = (request.httpMethod ?? "GET").uppercased()
        guard method == "GET" || method == "HEAD" else {
            return StubMessage(status: 405, fields: HeaderFields(["Allow": "GET, HEAD"]), body: Data())
        }
        guard isMatched(by: request) else {
            return StubMessage(status: 412, fields: HeaderFields(), body: Data())
        }
        guard isModified(for: request) else {
            return StubMessage(status: 304, fields: withValidators, body: Data())
        }
        guard method == "GET", let range = RangeRequest(request), mayBePartial(request),
            case .bytes(let ranges) = range.requested, ranges.count == 1, let asked = ranges.first
        else { return whole }
        let total = Int64(body.count)
        guard let bytes = asked.resolved(total) else {
            return StubMessage(
                status: 416,
                fields: HeaderFields(["Content-Range": "bytes */\(total)"]),
                body: Data()
            )
        }
        var message = whole
        message.status = 206
        message.fields["Content-Range"] = "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(total)"
        let start = body.startIndex
        message.body = body[start + Int(bytes.lowerBound)..<start + Int(bytes.upperBound)]
        return message
    }

    // MARK: - Conditions

    private func isMatched(by request: URLRequest) -> Bool {
        if let tags = request.value(forHTTPHeaderField: "If-Match") {
            guard tags != "*" else { return true }
            guard let own = strongTag else { return false }
            return Self.tags(in: tags).contains(own)
        }
        guard let limit = date("If-Unmodified-Since", of: request), let lastModified else { return true }
        return lastModified <= limit
    }

    private func isModified(for request: URLRequest) -> Bool {
        if let tags = request.value(forHTTPHeaderField: "If-None-Match") {
            guard tags != "*" else { return false }
            guard let entityTag else { return true }
            return !Self.tags(in: tags).contains { EntityTag.areWeaklyEqual($0.rawValue, [entityTag]) }
        }
        guard let limit = date("If-Modified-Since", of: request), let lastModified else { return true }
        return limit < lastModified
    }

    /// `If-Range`: a strong tag, or exactly the date
    /// ([RFC 9110 §13.1.5](https://www.rfc-editor.org/rfc/rfc9110#section-13.1.5)).
    private func mayBePartial(_ request: URLRequest) -> Bool {
        guard let condition = request.value(forHTTPHeaderField: "If-Range") else { return true }
        if let tag = EntityTag(fieldValue: condition) { return tag == strongTag }
        return lastModified != nil && HTTPDate(fieldValue: condition) == lastModified
    }

    private var strongTag: EntityTag? {
        entityTag.flatMap { EntityTag(fieldValue: $0) }.flatMap { $0.isWeak ? nil : $0 }
    }

    private static func tags(in list: String) -> [EntityTag] {
        FieldList(list, escapes: false).members.compactMap { EntityTag(fieldValue: String($0)) }
    }

    private func date(_ name: String, of request: URLRequest) -> HTTPDate? {
        request.value(forHTTPHeaderField: name).flatMap { HTTPDate(fieldValue: $0) }
    }

    // MARK: - Responses

    private var whole: StubMessage {
        var fields = withValidators
        if let contentType, fields["Content-Type"] == nil { fields["Content-Type"] = contentType }
        if fields["Accept-Ranges"] == nil { fields["Accept-Ranges"] = "bytes" }
        return StubMessage(status: 200, fields: fields, body: body)
    }

    private var withValidators: HeaderFields {
        var fields = fields
        if let entityTag { fields["ETag"] = entityTag }
        if let lastModified { fields["Last-Modified"] = lastModified.text }
        return fields
    }
}
