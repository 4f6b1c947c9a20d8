import OperationNetworkingSystem
import Testing

struct ChecksumTests {
    private static func value(_ add: (inout Checksum) -> Void) -> UInt32 {
        var checksum = Checksum()
        add(&checksum)
        return checksum.value
    }

    @Test func itIsTheCRC32COfTheOctets() {
        // The check value of the catalogue of CRCs (CRC-32/ISCSI).
        #expect(Self.value { $0.add(Array("123456789".utf8).span) } == 0xe306_9283)
        #expect(Self.value { _ in } == 0)
        let pieces = Self.value { checksum in
            for piece in ["1234", "", "56789"] { checksum.add(Array(piece.utf8).span) }
        }
        #expect(pieces == 0xe306_9283)
        var later = Checksum(Self.value { $0.add(0x3837_3635_3433_3231) })
        later.add(Array("9".utf8).span)
        #expect(later.value == 0xe306_9283)
    }

    /// Around the lengths at which the instruction is used for three parts at a time.
    @Test func theInstructionAndTheTableAgree() {
        let bytes = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        for count in [0, 1, 7, 8, 9, 12_287, 12_288, 12_289, 24_576, 24_583, 36_863, 36_865, 39_999] {
            for start in [0, 1] {
                let part = bytes.span.extracting(start..<start + count)
                var (one, other) = (Checksum(77), Checksum(77))
                one.add(part)
                other.addByTable(part)
                #expect(one == other, "\(count)")
            }
        }
    }

    @Test func textsAreDivided() {
        func value(_ texts: [String]) -> UInt32 {
            Self.value { checksum in for text in texts { checksum.add(text) } }
        }
        #expect(value(["ab", "c"]) == value(["ab", "c"]))
        #expect(value(["ab", "c"]) != value(["a", "bc"]))
    }
}
