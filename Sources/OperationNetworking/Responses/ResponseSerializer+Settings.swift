public import Foundation

// MARK: - Settings of a serializer without any

extension ResponseSerializer {
    /// - Throws: ``ResponseSerializationError``.
    public mutating func setAcceptableStatusCodes(_ statusCodes: IndexSet?) throws {
        throw lacks("acceptableStatusCodes")
    }

    /// - Throws: ``ResponseSerializationError``.
    public mutating func setAcceptableContentTypes(_ contentTypes: Set<String>?) throws {
        throw lacks("acceptableContentTypes")
    }

    private func lacks(_ setting: String) -> ResponseSerializationError {
        let reason = ResponseSerializationError.Reason.settingNotSupported(
            setting,
            serializer: "\(Self.self)"
        )
        return ResponseSerializationError(reason, response: nil, data: nil)
    }
}
