import Foundation

/// A number of bytes for people: `3.5 MiB`.
func text(_ bytes: some BinaryInteger) -> String {
    String(format: "%.1f MiB", Double(bytes) / 1_048_576)
}

/// A duration for people: `4.2 s`.
func seconds(_ duration: TimeInterval) -> String {
    String(format: "%.1f s", duration)
}
