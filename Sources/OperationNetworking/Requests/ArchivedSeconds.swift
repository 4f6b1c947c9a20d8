/// A number of seconds in an archive. JSON has no form of infinity, which stands for no limit in many
/// settings, so a number that is not finite is written as text.
package struct ArchivedSeconds: Hashable, Codable, Sendable {
    package let value: Double

    package init(_ value: Double) {
        self.value = value
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Double.self) {
            value = number
            return
        }
        let text = try container.decode(String.self)
        guard let number = Double(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is no number.")
        }
        value = number
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if value.isFinite { try container.encode(value) } else { try container.encode(value.description) }
    }
}
