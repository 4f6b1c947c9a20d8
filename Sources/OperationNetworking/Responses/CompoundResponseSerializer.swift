public import Foundation
public import FoundationNetworking

/// Several serializers, for servers that answer now with this and now with that.
///
/// The children are asked in order. The first row that holds counts:
///
/// | What the children made of the response       | Result                                               |
/// |----------------------------------------------|------------------------------------------------------|
/// | one returned an object                       | the object of the first that did                     |
/// | one took the media type, and threw an error with an object: a 404 that is explained in JSON | the first such error |
/// | one returned `nil`, such as for an empty body | the body as `Data`, if it passes what is set here   |
/// | one took the media type, and could not read the body | the first such error, with the other children's under it |
/// | none took the media type, or the status alone is wrong, or there are none | the body as `Data`, if it passes what is set here |
///
/// What does not pass is an error as that of ``HTTPResponseSerializer``, with the children's errors under it.
///
/// AFNetworking took an error with an object for a success, and the body for the object when a child could
/// not read it.
///
/// It can be encoded if all children are ``ArchivableResponseSerializer``s.
public struct CompoundResponseSerializer: ValidatingResponseSerializer, MessageSerializer,
    ArchivableResponseSerializer
{
    /// The errors of several children, where there is room for one.
    public struct ChildErrors: Error, Sendable {
        /// The children's errors, in the order of the children; those without an error are left out.
        public let errors: [any Error]
    }

    /// The validation of responses that no child makes an object of: 200 to 299 unless set.
    public var validation = HTTPResponseSerializer()

    /// The children, in the order in which they are asked.
    public var serializers: [any ResponseSerializer] {
        get { children.map(\.serializer) }
        set { children = newValue.map { ResponseSerializerArchive(unchecked: $0) } }
    }
    private var children: [ResponseSerializerArchive]

    /// A serializer that asks each of `serializers` in turn.
    public init(_ serializers: [any ResponseSerializer]) {
        children = serializers.map { ResponseSerializerArchive(unchecked: $0) }
    }

    // MARK: - ResponseSerializer

    /// The object of the first child that can make one.
    ///
    /// - Parameters:
    ///   - response: the head.
    ///   - data: the whole body.
    /// - Returns: the object of a child, else the body.
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
    /// No: the children may be code of the caller.
    func isQuick(byteCount: Int?) -> Bool { false }
}

// MARK: - QueuedResponseSerializer

extension CompoundResponseSerializer: QueuedResponseSerializer {
    /// The queue of the first child that has one.
    public var processingQueue: ProcessingQueue? {
        serializers.lazy.compactMap { ($0 as? any QueuedResponseSerializer)?.processingQueue }.first
    }
}

// MARK: - Judging errors

extension Error {
    fileprivate var hasObjectOfItsType: Bool {
        guard let error = self as? ResponseSerializationError else { return false }
        return error.responseObject != nil && !error.concernsContentType
    }

    /// Whether the media type was taken, and the body was the trouble. Errors that are not ours are.
    fileprivate var concernsBody: Bool {
        guard let error = self as? ResponseSerializationError else { return true }
        switch error.reason {
        case .unacceptableContentType, .unacceptableStatusCode, .settingNotSupported: return false
        case .undecodableText, .malformedBody, .unexpectedStructure: return true
        }
    }

    /// The error with `others` under it, after its own underlying error.
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
    /// The sentences of the errors.
    public var description: String {
        errors.map { (($0 as? any LocalizedError)?.errorDescription ?? "\($0)").excerpt(500) }
            .joined(separator: "; ")
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
