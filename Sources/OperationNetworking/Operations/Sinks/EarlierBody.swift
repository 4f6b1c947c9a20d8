import Foundation

/// The first bytes of a body that an earlier operation, or process, kept in memory, and the description with
/// which their identity can be verified.
struct EarlierBody: Sendable {
    var data: Data
    var content: PartialContent
    /// The ``ServerVerification`` of the bytes; `nil` for that of their operation.
    var verification: ServerVerification?

    init(_ data: Data, _ content: PartialContent, under verification: ServerVerification? = nil) {
        self.data = data
        self.content = content
        self.verification = verification
        self.content.offset = Int64(data.count)
    }

    /// The same without its last byte if it is complete: something has to be requested, because the response
    /// is made from the answer.
    var incomplete: EarlierBody? {
        guard let total = content.total, Int64(data.count) >= total else { return self }
        guard total > 1 else { return nil }
        return EarlierBody(data.prefix(Int(total) - 1), content, under: verification)
    }
}

/// The form of an ``EarlierBody`` in an archive.
struct EarlierBodyArchive: Codable, Sendable {
    private let data: Data
    private let content: PartialContentRecord
    /// Whether it was requested with secrets or cookies, which an archive does not contain. The identity of
    /// the later process is then unknown, and a tag only distinguishes versions of one resource: see
    /// ``PartialContent/isOfOtherRequest``.
    private let isOfNamedUser: Bool
    /// The text of a ``ServerVerification``; `nil` is ``ServerVerification/standard``.
    private let verification: String?

    /// Returns `nil` if nothing could be resumed. `verification` is that of the operation.
    init?(_ body: EarlierBody, isOfNamedUser: Bool, under verification: ServerVerification) {
        guard let body = body.incomplete, let content = PartialContentRecord(body.content) else { return nil }
        data = body.data
        self.content = content
        self.isOfNamedUser = isOfNamedUser || body.content.isOfOtherRequest
        let verified = body.verification ?? verification
        self.verification = verified == .standard ? nil : verified.text
    }

    /// The body; `nil` if the archive is invalid.
    var body: EarlierBody? {
        guard var content = content.partialContent(offset: Int64(data.count)) else { return nil }
        content.isOfOtherRequest = isOfNamedUser
        let verified = verification.map(ServerVerification.init(text:)) ?? .standard
        return EarlierBody(data, content, under: verified)
    }
}
