internal import Foundation

/// The format number of an archive, encoded first so that it is checked before anything else is decoded.
struct ArchiveFormat: Hashable, Codable, Sendable {
    private static let current = 1

    init() {}

    /// - Throws: `DecodingError` for any other number.
    init(from decoder: any Decoder) throws {
        let number = try Int(from: decoder)
        guard number == Self.current else {
            throw DecodingError.dataCorrupted(
                decoder,
                "The archive has format \(number). This version reads only format \(Self.current)."
            )
        }
    }

    func encode(to encoder: any Encoder) throws { try Self.current.encode(to: encoder) }
}

extension DecodingError {
    static func dataCorrupted(_ decoder: any Decoder, _ description: String) -> DecodingError {
        .dataCorrupted(Context(codingPath: decoder.codingPath, debugDescription: description))
    }
}

// MARK: - Values without synthesized coding

/// A Foundation value that is encoded as its raw value.
struct RawCoded<Value: RawRepresentable & Sendable>: Codable, Sendable where Value.RawValue: Codable {
    var value: Value

    init(_ value: Value) {
        self.value = value
    }

    init(from decoder: any Decoder) throws {
        let rawValue = try Value.RawValue(from: decoder)
        guard let value = Value(rawValue: rawValue) else {
            throw DecodingError.dataCorrupted(decoder, "\(Value.self) has no value \(rawValue).")
        }
        self.value = value
    }

    func encode(to encoder: any Encoder) throws { try value.rawValue.encode(to: encoder) }
}

extension RawCoded: Equatable where Value: Equatable {}
extension RawCoded: Hashable where Value: Hashable {}

/// A closure among settings. Encoding fails, because the value would be restored without its closure.
struct UncodableClosure<Closure: Sendable>: Codable, Sendable {
    let closure: Closure

    init(_ closure: Closure) {
        self.closure = closure
    }

    init(from decoder: any Decoder) throws {
        throw DecodingError.dataCorrupted(decoder, "A closure cannot be decoded.")
    }

    func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(
            closure,
            .init(codingPath: encoder.codingPath, debugDescription: "A closure cannot be encoded.")
        )
    }
}

/// A number that is encoded as text if it is not finite: JSON cannot express infinity, which means "no limit"
/// in many settings.
package struct CodedDouble: Hashable, Codable, Sendable {
    package var value: Double

    package init(_ value: Double) {
        self.value = value
    }

    package init(from decoder: any Decoder) throws {
        if let number = try? Double(from: decoder) {
            value = number
        } else {
            let text = try String(from: decoder)
            guard let number = Double(text) else {
                throw DecodingError.dataCorrupted(decoder, "\(text) is not a number.")
            }
            value = number
        }
    }

    package func encode(to encoder: any Encoder) throws {
        try value.isFinite ? value.encode(to: encoder) : value.description.encode(to: encoder)
    }
}
