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
    /// Writes what the stream takes of `data`: how many bytes, 0 when it is at its capacity, negative on failure.
    package func write(_ data: Data) -> Int {
        data.withUnsafeBytes { bytes in
            guard let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress else { return 0 }
            return write(start, maxLength: bytes.count)
        }
    }
}
