import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The form of a stored head on disk.
@Suite struct CachedHeadEncodingTests {
    private static func sample() throws -> CachedHead {
        var request = CacheScenario.request(["Foo": "1, 2"], identity: "digest")
        request.decodesContent = true
        var stored = try #require(
            CacheScenario.stored(
                [
                    "Vary": "Foo", "Content-Encoding": "gzip", "ETag": "\"v\u{e4}1\"", "Empty": "", "A": "1",
                    "A": "2",
                ],
                for: request
            )
        )
        stored.requestTime = 0.1
        stored.isInvalidated = true
        return stored
    }

    @Test func everyMemberIsRestored() throws {
        let head = try Self.sample()
        let read = try #require(CachedHead(encoded: head.encoded))
        #expect(read == head)
        #expect(read.fields.fields.map(\.name) == head.fields.fields.map(\.name))
        var other = head
        other.isDecoded = false
        other.isInvalidated = false
        other.identity = nil
        other.head.status = 599
        for length in [0, 10, Int64.max] {
            other.length = length
            #expect(CachedHead(encoded: other.encoded) == other)
        }
    }

    @Test func theFormIsCompact() throws {
        let head = try Self.sample()
        let text = head.fields.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        #expect(head.encoded.count < text + 100)
    }

    @Test func aTruncatedHeadIsInvalid() throws {
        let data = try Self.sample().encoded
        for count in 0..<data.count {
            #expect(CachedHead(encoded: Array(data.prefix(count))) == nil)
        }
        #expect(CachedHead(encoded: data + [0]) == nil)
    }

    @Test func aChangedOctetTrapsNothing() throws {
        let data = try Self.sample().encoded
        var generator = SeededGenerator(seed: 9111)
        for index in data.indices {
            for value in [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &generator)] {
                var changed = data
                changed[index] = value
                guard let head = CachedHead(encoded: changed) else { continue }
                #expect(CachedHead(encoded: head.encoded) == head)
            }
        }
    }

    static let impossible: [@Sendable (inout CachedHead) -> Void] = [
        { $0.head.status = 199 },
        { $0.head.status = 600 },
        { $0.head.status = -1 },
        { $0.method = "" },
        { $0.method = "G T" },
        { $0.requestTime = .nan },
        { $0.responseTime = .infinity },
        { $0.head.fields["A"] = "1\r\nB: 2" },
        { $0.head.fields["A"] = "1\n" },
        { $0.head.fields["A"] = "1\0" },
        { $0.head.fields.append(name: "A B", value: "1") },
        { $0.selecting.append(name: "", value: "1") },
    ]

    @Test(arguments: impossible.indices)
    func anImpossibleHeadIsRefused(index: Int) throws {
        var head = try Self.sample()
        Self.impossible[index](&head)
        #expect(CachedHead(encoded: head.encoded) == nil)
    }

    @Test func aValueThatIsNotTextIsRefused() throws {
        var head = try Self.sample()
        head.head.fields["A"] = "mark"
        let data = head.encoded
        let place = try #require(data.firstRange(of: Array("mark".utf8)))
        for octets in [[0xFF, 0xFE, 0x41, 0x41], [0xC3, 0x28, 0x41, 0x41], [0x41, 0x41, 0x41, 0xC3]] {
            var changed = data
            changed.replaceSubrange(place, with: octets.map { UInt8($0) })
            #expect(CachedHead(encoded: changed) == nil)
        }
        var changed = data
        changed.replaceSubrange(place, with: Array("\u{e4}\u{f6}".utf8))
        #expect(CachedHead(encoded: changed)?.fields["A"] == "\u{e4}\u{f6}")
    }
}
