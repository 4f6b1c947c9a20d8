import Foundation

/// The first bytes of a body that an earlier operation, or process, kept in memory, with what proves that the
/// server still has the same.
struct EarlierBody: Sendable {
    var data: Data
    var content: PartialContent

    init(_ data: Data, _ content: PartialContent) {
        self.data = data
        self.content = content
        self.content.offset = Int64(data.count)
    }

    /// The same without its last byte if it is whole: there has to be something to ask for, since a response
    /// is made of the answer.
    var incomplete: EarlierBody? {
        guard let total = content.total, Int64(data.count) >= total else { return self }
        guard total > 1 else { return nil }
        return EarlierBody(data.prefix(Int(total) - 1), content)
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

    /// `nil`: nothing could be continued.
    init?(_ body: EarlierBody, isOfNamedUser: Bool) {
        guard let body = body.incomplete, let content = PartialContentRecord(body.content) else { return nil }
        data = body.data
        self.content = content
        self.isOfNamedUser = isOfNamedUser || body.content.isOfOtherQuestion
    }

    /// `nil` for what makes no sense.
    var body: EarlierBody? {
        guard var content = content.partialContent(offset: Int64(data.count)) else { return nil }
        content.isOfOtherQuestion = isOfNamedUser
        return EarlierBody(data, content)
    }
}
