package import Foundation

extension InputStream {
    /// Reads as much as there is room for, or what is there; 0 at the end, negative on failure. May wait.
    package func read(filling buffer: inout [UInt8]) -> Int {
        buffer.withUnsafeMutableBufferPointer { read($0) }
    }

    private func read(_ buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        guard let start = buffer.baseAddress else { return 0 }
        return read(start, maxLength: buffer.count)
    }
}

extension OutputStream {
    /// Writes what the stream takes of `bytes`: how many, 0 when it is at its capacity, negative on failure. May wait.
    package func write(_ bytes: Span<UInt8>) -> Int {
        bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            return write(start, maxLength: buffer.count)
        }
    }
}

extension [UInt8] {
    /// Copies bytes that are only lent.
    package mutating func append(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { append(contentsOf: $0) }
    }
}
