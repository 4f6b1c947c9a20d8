internal import FoundationNetworking

/// A download's question: bytes of an earlier one are kept as far as they answer this one, too.
struct DownloadQuestion: Sendable {
    let request: RequestRecord
    /// The fields that count where the server says so.
    let varying: VaryingFields
    let asker: Asker

    /// - Parameters:
    ///   - request: what is going to be asked.
    ///   - asker: as whom; `nil`: as the request alone says.
    init(_ request: URLRequest, as asker: Asker?) {
        self.request = RequestRecord(request)
        varying = VaryingFields(request)
        self.asker = asker ?? Asker(request)
    }
}
