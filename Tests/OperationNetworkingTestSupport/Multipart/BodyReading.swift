import Foundation

@testable import OperationNetworking

/// All bytes of a body, taken in pieces of at most that length.
func read(_ body: BodySource, by count: Int = 7) throws -> Data {
    let reader = BodyReader(body)
    var data = Data()
    while true {
        let piece = try reader.next(atMost: count)
        if piece.isEmpty { return data }
        guard piece.count <= count else { throw PieceTooLong(count: piece.count) }
        data.append(piece)
    }
}

struct PieceTooLong: Error {
    let count: Int
}
