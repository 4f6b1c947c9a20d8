import Foundation
import FoundationNetworking

// Serializers of ours, which need no form of Foundation's, and all others.
extension ResponseSerializer {
    /// The object of a response, without Foundation's form of its head where that is not needed.
    func responseObject(from message: ReceivedMessage) throws -> (any Sendable)? {
        if let serializer = messageSerializer {
            return try serializer.responseObject(of: message)
        }
        if let origin = message.origin, let object = try origin.responseObject(of: message, by: self) {
            return object.value
        }
        return try responseObject(for: message.response?.value, data: message.data)
    }

    /// Whether the object of a response is made in a moment, without any code of the caller's.
    func isQuick(with data: Data?) -> Bool {
        messageSerializer?.isQuick(byteCount: data?.count) ?? false
    }

    /// The serializer as one of ours; `nil`: it is none. To look for a conformance costs as much as all that
    /// the plain one does.
    private var messageSerializer: (any MessageSerializer)? {
        (self as? HTTPResponseSerializer) ?? self as? any MessageSerializer
    }
}
