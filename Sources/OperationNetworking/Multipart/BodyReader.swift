import Foundation
internal import OperationNetworkingSystem

/// Reads a ``BodySource`` once, from beginning to end.
final class BodyReader: PieceSource {
    /// The body.
    let body: BodySource
    /// The index of the next segment.
    private var index = 0
    private var current = Current.none

    private enum Current {
        case none
        case data(Data)
        case file(InputFile, path: String, read: Int64, length: Int64)
        case stream(InputStream, ClaimedStream, StreamSegment, read: Int64)
    }

    init(_ body: BodySource) {
        self.body = body
    }

    func next(atMost count: Int) throws -> Data {
        while true {
            let piece = try nextOfCurrent(atMost: count)
            if !piece.isEmpty { return piece }
            guard index < body.segments.count else { return Data() }
            current = try open(body.segments[index])
            index += 1
        }
    }

    func stop() {
        close()
        index = body.segments.count
    }

    // MARK: - Private

    private func open(_ segment: BodySegment) throws -> Current {
        switch segment {
        case .data(let data):
            return .data(data)
        case .file(let path, let length):
            do {
                let file = try InputFile(path: path)
                let found = try file.length
                guard found == length else {
                    throw RequestBodyError.fileChanged(path: path, expected: length, found: found)
                }
                return .file(file, path: path, read: 0, length: length)
            } catch let error as SystemError {
                throw RequestBodyError(error, path: path)
            }
        case .stream(let stream):
            let (opened, claimed) = try stream.open()
            return .stream(opened, claimed, stream, read: 0)
        }
    }

    /// Empty at the end of the segment.
    private func nextOfCurrent(atMost count: Int) throws -> Data {
        switch current {
        case .none:
            return Data()
        case .data(let data):
            current = .data(data.dropFirst(count))
            return data.prefix(count)
        case .file(let file, let path, let read, let length):
            let piece = try next(of: file, path, atMost: Int(min(Int64(count), length - read)))
            guard !piece.isEmpty else {
                guard read == length else {
                    throw RequestBodyError.fileChanged(path: path, expected: length, found: read)
                }
                close()
                return piece
            }
            current = .file(file, path: path, read: read + Int64(piece.count), length: length)
            return piece
        case .stream(let stream, let claimed, let segment, let read):
            let limit = segment.length.map { Int(min(Int64(count), $0 - read)) } ?? count
            let piece = limit > 0 ? try next(of: stream, atMost: limit) : Data()
            guard !piece.isEmpty else {
                if let length = segment.length, read < length {
                    throw RequestBodyError.streamTooShort(segment.name, expected: length, found: read)
                }
                close()
                return piece
            }
            current = .stream(stream, claimed, segment, read: read + Int64(piece.count))
            return piece
        }
    }

    private func next(of file: InputFile, _ path: String, atMost count: Int) throws(RequestBodyError) -> Data
    {
        do {
            return try file.read(atMost: count)
        } catch {
            throw RequestBodyError(error, path: path)
        }
    }

    private func next(of stream: InputStream, atMost count: Int) throws -> Data {
        guard let piece = stream.nextPiece(atMost: count) else {
            throw stream.failure(or: .fileReadUnknown)
        }
        return piece
    }

    private func close() {
        if case .stream(_, let claimed, _, _) = current { claimed.close() }
        current = .none
    }
}
