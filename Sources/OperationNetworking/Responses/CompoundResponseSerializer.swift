public import Foundation
public import FoundationNetworking

/// A serializer that tries several others, for servers that respond with different formats.
///
/// The children are tried in order. The first row that applies determines the result:
///
/// | The children's results                       | Result                                               |
/// |----------------------------------------------|------------------------------------------------------|
/// | one returned an object                       | the first object                                     |
/// | one accepted the media type, and threw an error with an object, such as a 404 explained in JSON | the first such error |
/// | one returned `nil`, such as for an empty body | the body as `Data`, if it passes ``validation``     |
/// | one accepted the media type, but could not parse the body | the first such error, with the others as underlying errors |
/// | none accepted the media type, only the status is unacceptable, or there are no children | the body as `Data`, if it passes ``validation`` |
///
/// If the body does not pass, the error is that of ``HTTPResponseSerializer``, with the children's errors as
/// underlying errors.
///
/// AFNetworking treated an error with an object as a success, and returned the body as the object if a child
/// could not parse it.
///
/// It can be encoded if all of its children are ``ArchivableResponseSerializer``s.
public struct CompoundResponseSerializer: ValidatingResponseSerializer, MessageSerializer,
    ArchivableResponseSerializer
{
    /// The errors of several children, as one underlying error.
    public struct ChildErrors: Error, Sendable {
        /// The children's errors in the order of the children. Children without an error are left out.
        public let errors: [any Error]
    }

    /// The validation of responses from which no child makes an object. Defaults to 200 to 299.
    public var validation = HTTPResponseSerializer()

    /// The children, in the order in which they are tried.
    public var serializers: [any ResponseSerializer] {
        get { children.map(\.serializer) }
        set { children = newValue.map { ResponseSerializerArchive(unchecked: $0) } }
    }
    private var children: [ResponseSerializerArchive]

    /// Creates a serializer that tries each of `serializers` in turn.
    public init(_ serializers: [any ResponseSerializer]) {
        children = serializers.map { ResponseSerializerArchive(unchecked: $0) }
    }

    // MARK: - ResponseSerializer

    /// Returns the object of the first child that makes one.
    ///
    /// - Parameters:
    ///   - response: the head.
    ///   - data: the whole body.
    /// - Returns: the object of a child; the body if no child makes one.
    /// - Throws: the error of a child, or ``ResponseSerializationError``.
    public func responseObject(for response: HTTPURLResponse?, data: Data?) throws -> (any Sendable)? {
        try responseObject(of: ReceivedMessage(response, data))
    }

    func responseObject(of message: ReceivedMessage) throws -> (any Sendable)? {
        var errors: [any Error] = []
        for child in children {
            do {
                if let object = try child.serializer.responseObject(from: message) { return object }
            } catch {
                errors.append(error)
            }
        }
        if let explained = errors.first(where: \.hasObjectOfItsType) { throw explained }
        let hasEmptyResult = errors.count < children.count
        if !hasEmptyResult, let index = errors.firstIndex(where: \.concernsBody) {
            throw errors.remove(at: index).on(topOf: errors)
        }
        do {
            return try validation.responseObject(of: message)
        } catch {
            throw error.on(topOf: errors)
        }
    }
}

extension CompoundResponseSerializer {
    /// Never: the children may run code of the caller's.
    func isQuick(byteCount: Int?) -> Bool { false }
}

// MARK: - QueuedResponseSerializer

extension CompoundResponseSerializer: QueuedResponseSerializer {
    /// The processing queue of the first child that has one.
    public var processingQueue: ProcessingQueue? {
        serializers.lazy.compactMap { ($0 as? any QueuedResponseSerializer)?.processingQueue }.first
    }
}

// MARK: - Classifying errors

extension Error {
    fileprivate var hasObjectOfItsType: Bool {
        guard let error = self as? ResponseSerializationError else { return false }
        return error.responseObject != nil && !error.concernsContentType
    }

    /// Whether the media type was accepted and the body was not. True for every error that is not this
    /// library's.
    fileprivate var concernsBody: Bool {
        guard let error = self as? ResponseSerializationError else { return true }
        switch error.reason {
        case .unacceptableContentType, .unacceptableStatusCode, .settingNotSupported: return false
        case .undecodableText, .malformedBody, .unexpectedStructure: return true
        }
    }

    /// Returns the error with `others` added to its underlying error.
    fileprivate func on(topOf others: [any Error]) -> any Error {
        guard let error = self as? ResponseSerializationError, !others.isEmpty else { return self }
        let errors = (error.underlyingError.map { [$0] } ?? []) + others
        return ResponseSerializationError(
            error.reason,
            response: error.response.map { ReceivedResponse($0) },
            data: error.data,
            responseObject: error.responseObject,
            underlyingError: errors.count == 1
                ? errors[0] : CompoundResponseSerializer.ChildErrors(errors: errors)
        )
    }
}

// MARK: - CustomStringConvertible, LocalizedError

extension CompoundResponseSerializer.ChildErrors: CustomStringConvertible, LocalizedError {
    /// The descriptions of the errors.
    public var description: String {
        errors.map { (($0 as? any LocalizedError)?.errorDescription ?? "\($0)").excerpt(500) }
            .joined(separator: "; ")
    }

    /// Equal to ``description``.
    public var errorDescription: String? { description }
}
