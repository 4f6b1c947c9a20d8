import Foundation

/// Standard output, a line at a time, without a buffer: a test takes minutes.
struct Screen {
    /// Prints one line.
    func line(_ text: String) {
        FileHandle.standardOutput.write(Data("\(text)\n".utf8))
    }
}
