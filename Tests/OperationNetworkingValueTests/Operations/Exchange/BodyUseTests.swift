import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct BodyUseTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var use: BodyUse
        var pieces: [String]
        var steps: [BodyUse.Step]
        var after: BodyUse

        var testDescription: String { "\(use) of \(pieces)" }

        init(_ use: BodyUse, _ pieces: [String], _ steps: [BodyUse.Step], _ after: BodyUse) {
            self.use = use
            self.pieces = pieces
            self.steps = steps
            self.after = after
        }
    }

    private static func held(_ text: String) -> ArraySlice<UInt8> { Array("..\(text)".utf8).dropFirst(2) }

    private static let rows = [
        Row(.deliver, ["ab", ""], [.write(from: 0, new: 0), .write(from: 0, new: 0)], .deliver),
        // Skipped: across pieces, to a piece's end, and into one.
        Row(.skip(3, then: []), ["a", "bc", "d"], [.ignore, .ignore, .write(from: 0, new: 0)], .deliver),
        Row(.skip(3, then: []), ["abcd"], [.write(from: 3, new: 3)], .deliver),
        Row(.skip(3, then: []), ["ab"], [.ignore], .skip(1, then: [])),
        Row(.skip(1, then: held("bc")), ["abcd"], [.write(from: 3, new: 3)], .deliver),
        Row(.skip(1, then: held("bc")), ["ab", "cd"], [.ignore, .write(from: 1, new: 1)], .deliver),
        Row(.skip(1, then: held("bc")), ["a", "bx"], [.ignore, .differs], .check(held("bc"))),
        Row(.skip(.max, then: []), ["ab"], [.ignore], .skip(.max - 2, then: [])),
        // Compared by the sink, which writes what is new.
        Row(.compare(3), ["ab", "cd"], [.write(from: 0, new: 2), .write(from: 0, new: 1)], .deliver),
        Row(.compare(2), ["ab"], [.write(from: 0, new: 2)], .deliver),
        Row(.compare(9), ["ab"], [.write(from: 0, new: 2)], .compare(7)),
        // Compared here.
        Row(.check(held("abc")), ["ab", "c", "d"], [.ignore, .ignore, .write(from: 0, new: 0)], .deliver),
        Row(.check(held("abc")), ["abcd"], [.write(from: 3, new: 3)], .deliver),
        Row(.check(held("abc")), ["abx"], [.differs], .check(held("abc"))),
        Row(.check(held("abc")), ["a", "x"], [.ignore, .differs], .check(held("bc"))),
        // Buffered separately, up to a limit.
        Row(
            .bufferSeparately(3),
            ["ab", "c"],
            [.bufferSeparately(2, cuts: false), .bufferSeparately(1, cuts: false)],
            .bufferSeparately(0)
        ),
        Row(.bufferSeparately(3), ["abcd"], [.bufferSeparately(3, cuts: true)], .bufferSeparately(0)),
        Row(
            .bufferSeparately(0),
            ["", "a"],
            [.bufferSeparately(0, cuts: false), .bufferSeparately(0, cuts: true)],
            .bufferSeparately(0)
        ),
        Row(.bufferSeparately(-1), ["a"], [.bufferSeparately(0, cuts: true)], .bufferSeparately(-1)),
        // Of no use.
        Row(.drop, ["abc"], [.ignore], .drop),
        Row(.discard(3), ["ab", "c", "d"], [.ignore, .ignore, .cut], .discard(0)),
        Row(.discard(3), ["abcd"], [.cut], .discard(3)),
    ]

    @Test(arguments: rows)
    func eachPieceHasItsStep(row: Row) {
        var use = row.use
        let steps = row.pieces.map { piece in
            let bytes = Array(piece.utf8)
            return use.take(bytes.span)
        }
        #expect(steps == row.steps)
        #expect(use == row.after)
    }

    @Test func onlyBodiesForTheSinkWaitForIt() {
        let forSink: [BodyUse] = [.deliver, .skip(1, then: []), .compare(1), .check([1])]
        #expect(forSink.allSatisfy { $0.isForSink && $0.unused == nil })
        let others: [BodyUse] = [.bufferSeparately(1), .drop, .discard(1)]
        #expect(others.allSatisfy { !$0.isForSink })
        #expect(others.map(\.unused) == [.explanation, nil, .discarded])
    }
}
