import Foundation

/// A number of bytes in a readable form: `512 B`, `12.4 MiB`.
struct ByteCount: CustomStringConvertible {
    private let bytes: Int

    init(_ bytes: Int) {
        self.bytes = bytes
    }

    var description: String {
        switch bytes {
        case ..<1024: "\(bytes) B"
        case ..<(1 << 20): Self.tenths(Double(bytes) / 1024) + " KiB"
        default: Self.tenths(Double(bytes) / 1_048_576) + " MiB"
        }
    }

    private static func tenths(_ value: Double) -> String {
        String(format: "%.1f", value)
    }
}

extension String {
    func paddedLeft(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }

    func paddedRight(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }

    var trimmedRight: String {
        var text = self[...]
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
