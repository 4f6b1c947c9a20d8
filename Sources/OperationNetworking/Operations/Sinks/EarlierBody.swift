import Foundation

/// The first bytes of a body that an earlier operation, or process, kept in memory, with what proves that the
/// server still has the same.
struct EarlierBody: Sendable {
    var data: Data
    var content: PartialContent
    /// The ``ServerVerification`` of the bytes; `nil`: that of the operation whose they are.
    var verification: ServerVerification?

    init(_ data: Data, _ content: PartialContent, under verification: ServerVerification? = nil) {
        self.data = data
        self.content = content
        self.verification = verification
        self.content.offset = Int64(data.count)
    }

    /// The same without its last byte if it is whole: there has to be something to ask for, since a response
    /// is made of the answer.
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
    /// Whether it was asked for with secrets, or cookies, that no archive has. As whom the later process
    /// asks is not known then, and a tag tells versions of one resource apart: see
    /// ``PartialContent/isOfOtherQuestion``.
    private let isOfNamedUser: Bool
    /// The text of a ``ServerVerification``; `nil` is ``ServerVerification/standard``.
    private let verification: String?

    /// `nil`: nothing could be continued. `verification` is that of the operation.
    init?(_ body: EarlierBody, isOfNamedUser: Bool, under verification: ServerVerification) {
        guard let body = body.incomplete, let content = PartialContentRecord(body.content) else { return nil }
        data = body.data
        self.content = content
        self.isOfNamedUser = isOfNamedUser || body.content.isOfOtherQuestion
        let verified = body.verification ?? verification
        self.verification = verified == .standard ? nil : verified.text
    }

    /// `nil` for what makes no sense.
    var body: EarlierBody? {
        guard var content = content.partialContent(offset: Int64(data.count)) else { return nil }
        content.isOfOtherQuestion = isOfNamedUser
        let verified = verification.map(ServerVerification.init(text:)) ?? .standard
        return EarlierBody(data, content, under: verified)
    }
}
