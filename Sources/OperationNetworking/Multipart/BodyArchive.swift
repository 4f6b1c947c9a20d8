import Foundation

/// A ``BodySource`` to be kept for a later process: data as it is, files by their names.
struct BodyArchive: Codable, Hashable, Sendable {
    private enum Segment: Codable, Hashable {
        case data(Data)
        case file(path: String, length: Int64)
    }

    private let segments: [Segment]
    private let maximumRate: Int64?

    /// - Returns: `nil` for a body with a stream, which ends with its process.
    init?(_ body: BodySource) {
        var segments: [Segment] = []
        for segment in body.segments {
            switch segment {
            case .data(let data): segments.append(.data(data))
            case .file(let path, let length): segments.append(.file(path: path, length: length))
            case .stream: return nil
            }
        }
        self.segments = segments
        maximumRate = body.maximumRate
    }

    /// - Throws: `DecodingError`, also for a file of a negative length.
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        segments = try values.decode([Segment].self, forKey: .segments)
        maximumRate = try values.decodeIfPresent(Int64.self, forKey: .maximumRate)
        for case .file(let path, let length) in segments where length < 0 {
            throw DecodingError.dataCorruptedError(
                forKey: .segments,
                in: values,
                debugDescription: "\(path) cannot have \(length) bytes"
            )
        }
    }

    /// The body. A file that has changed since is an error when it is read.
    var body: BodySource {
        let segments = segments.map { segment -> BodySegment in
            switch segment {
            case .data(let data): .data(data)
            case .file(let path, let length): .file(path: path, length: length)
            }
        }
        return BodySource(segments, maximumRate: maximumRate)
    }
}
