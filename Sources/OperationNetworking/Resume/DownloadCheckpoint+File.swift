internal import Foundation

// The file: a line with the format number and the SHA-256 of what follows, then JSON.
extension DownloadCheckpoint {
    /// The format number. Files with any other number are not read.
    static let schema = 4
    /// The maximum length of a file in bytes.
    static let maximumFileLength = 1 << 20

    /// Why a file cannot be read.
    enum Unreadable: Error, Hashable, Sendable {
        /// The file does not begin like a checkpoint, or is too long for one.
        case notACheckpoint
        /// The file has another format, older or newer; it is left alone.
        case otherSchema
        /// The file was torn: its bytes are not those that were written, or have no possible meaning.
        case damaged
    }

    private static let magic = "OperationNetworking-download"

    func fileBytes() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = [UInt8](try encoder.encode(self))
        let header = "\(Self.magic) \(Self.schema) \(try body.span.sha256Text())\n"
        return Array(header.utf8) + body
    }

    /// - Parameter fileBytes: the contents of the file.
    /// - Throws: why the file cannot be read.
    init(fileBytes: [UInt8]) throws(Unreadable) {
        guard let end = fileBytes.prefix(256).firstIndex(of: UInt8(ascii: "\n")) else {
            throw .notACheckpoint
        }
        let words = String(decoding: fileBytes[..<end], as: UTF8.self)
            .split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[0] == Self.magic else { throw .notACheckpoint }
        guard words[1] == "\(Self.schema)" else { throw .otherSchema }
        let body = Array(fileBytes[(end + 1)...])
        guard let digest = try? body.span.sha256Text(), words[2] == digest else { throw .damaged }
        guard let read = try? JSONDecoder().decode(Self.self, from: Data(body)), read.isConsistent else {
            throw .damaged
        }
        self = read
    }

    /// Whether the numbers are possible. Later computations rely on that: differences do not overflow.
    private var isConsistent: Bool {
        ranges.end <= total ?? .max
            && blocks.count <= Self.maximumBlockCount && blocks.last.map { $0.end <= committed } ?? true
            && blocks.allSatisfy {
                $0.length > 0 && $0.length <= Block.maximumLength && $0.end >= Int64($0.length)
            }
            && zip(blocks, blocks.dropFirst()).allSatisfy { $0.end < $1.end }
    }
}
