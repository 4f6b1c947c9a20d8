import Foundation

@testable import OperationNetworking

/// The body of a request by its kind and its length, for tables.
enum SampleBody: Sendable {
    case none
    /// Zeros in memory.
    case data(Int)
    /// A stream that promises `length` bytes; nothing of it is read.
    case stream(length: Int64?, isRepeatable: Bool)

    var body: RequestBody? {
        switch self {
        case .none:
            return nil
        case .data(let count):
            return .data(Data(count: count))
        case .stream(let length, let isRepeatable):
            let makeStream: BodyStream.Provider = { InputStream(data: Data()) }
            let stream = BodyStream(
                InputStream(data: Data()),
                length: length,
                provider: isRepeatable ? makeStream : nil
            )
            return .stream(stream)
        }
    }
}
