import Foundation
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The values that the store is made of.
struct StoreValuesTests {
    // MARK: - The order of use

    @Test func theOrderOfUseIsThatOfAList() {
        var random = SeededGenerator(seed: 1)
        var list = RecencyList<Int>()
        var model: [Int] = []
        for _ in 0..<5000 {
            let key = Int.random(in: 0..<20, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                list.remove(key)
                model.removeAll { $0 == key }
            case 1:
                if let oldest = list.oldest { list.remove(oldest) }
                if !model.isEmpty { model.removeFirst() }
            default:
                list.use(key)
                model.removeAll { $0 == key }
                model.append(key)
            }
            #expect(list.oldest == model.first)
            #expect(list.count == model.count)
        }
        list.removeAll()
        #expect(list.oldest == nil && list.count == 0)
    }

    // MARK: - The filter

    @Test func theFilterNeverDeniesWhatIsInItAndSeldomClaimsWhatIsNot() {
        let count = 20_000
        var filter = KeyFilter(capacity: count)
        func hash(_ text: String, _ number: Int) -> Int64 {
            CacheKey(url: "http://a/\(text)/\(number)").storedHash
        }
        for number in 0..<count { filter.insert(hash("in", number)) }
        #expect((0..<count).allSatisfy { filter.mayContain(hash("in", $0)) })
        let wrong = (0..<count).count { filter.mayContain(hash("out", $0)) }
        #expect(wrong < count / 50, "\(wrong)")
        #expect(!filter.isOverfull)
        filter.insert(0)
        #expect(filter.isOverfull)
    }

    @Test func theHashOfAKeyIsTheSameForEver() {
        // It is in indexes of earlier processes. FNV-1a of "a", 0, "b".
        #expect(CacheKey(url: "a", partition: "b").storedHash == Self.hash([0x61, 0, 0x62]))
        #expect(CacheKey(url: "").storedHash == Self.hash([0]))
        #expect(CacheKey(url: "ab").storedHash != CacheKey(url: "a", partition: "b").storedHash)
    }

    private static func hash(_ bytes: [UInt8]) -> Int64 {
        // The definition: multiply by 2^40 + 2^8 + 0xb3, modulo 2^64.
        Int64(bitPattern: bytes.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 })
    }

    // MARK: - Moments

    @Test func aChangeConcernsWhatWasAskedForBefore() {
        var moments = StoreMoments()
        let (key, other) = (CacheKey(url: "http://a/"), CacheKey(url: "http://b/"))
        let jar = CacheKey(url: "http://a/", partition: "jar")
        let first = moments.now
        #expect(moments.fate(of: key, since: first) == (true, false))
        moments.didInvalidate(key)
        let second = moments.now
        #expect(moments.fate(of: key, since: first) == (true, true))
        #expect(moments.fate(of: jar, since: first) == (true, true))
        #expect(moments.fate(of: other, since: first) == (true, false))
        #expect(moments.fate(of: key, since: second) == (true, false))
        moments.didRemove(key.url)
        #expect(moments.fate(of: jar, since: second) == (false, false))
        #expect(moments.fate(of: jar, since: moments.now) == (true, false))
        let third = moments.now
        moments.didRemoveAll()
        #expect(!moments.fate(of: other, since: third).isWanted)
        #expect(moments.fate(of: other, since: moments.now) == (true, false))
    }

    /// Of more changes than are remembered, the older ones count for every URL.
    @Test func aForgottenChangeCountsAsOne() {
        var moments = StoreMoments()
        let (key, start) = (CacheKey(url: "http://a/"), moments.now)
        moments.didRemove(key.url)
        let later = moments.now
        for number in 0..<3_000 { moments.didInvalidate(CacheKey(url: "http://b/\(number)")) }
        #expect(!moments.fate(of: key, since: start).isWanted)
        #expect(moments.fate(of: CacheKey(url: "http://c/"), since: later) == (false, true))
        #expect(moments.fate(of: key, since: moments.now) == (true, false))
    }

    // MARK: - Bodies

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000])
    func aBodyIsTheSameByPiecesAndAtOnce(length: Int) {
        let bytes = sampleBytes(length)
        var grown = CacheBody()
        var rest = bytes[...]
        while !rest.isEmpty {
            grown.append(Data(rest.prefix(7777)).span)
            rest = rest.dropFirst(7777)
        }
        for body in [grown, CacheBody(bytes)] {
            #expect(body.count == length)
            #expect(body.data == bytes)
            #expect(body.bytes(at: Int64(length), atMost: 10).isEmpty)
            #expect(body.bytes(at: -1, atMost: 10).isEmpty)
            var read = Data()
            while read.count < length {
                let piece = body.bytes(at: Int64(read.count), atMost: 50_000)
                #expect(piece.startIndex == 0 && !piece.isEmpty)
                read += piece
            }
            #expect(read == bytes)
            #expect(body.data == bytes)
        }
    }

    // MARK: - Look-ups

    /// The rows of the table of ``StoreState``.
    @Test func memoryAnswersWhenItMay() {
        let (key, now) = (CacheKey(url: "http://a/1"), MonotonicTime(seconds: 100))
        let hash = key.storedHash
        let entry = CacheEntry(id: 1, head: sampleHead(key.url, length: 3))
        func ids(_ state: StoreState, _ time: MonotonicTime = now) -> [Int64]? {
            var state = state
            guard case .known(let variants) = state.find(key, now: time) else { return nil }
            return variants.map(\.entry.id)
        }
        var state = StoreState(memoryCapacity: 1 << 20, hasDisk: false)
        #expect(ids(state) == [])
        state = StoreState(memoryCapacity: 1 << 20, hasDisk: true)
        #expect(ids(state) == nil)
        state.lastLook = now
        #expect(ids(state) == nil)
        state.filter = KeyFilter(capacity: 10)
        #expect(ids(state) == [])
        #expect(ids(state, now + 1.1) == nil)
        state.begin(key)
        #expect(ids(state) == nil)
        #expect(state.end(key).isEmpty)
        state.filter?.insert(hash)
        #expect(ids(state) == nil)
        state.removalsOfAll = 1
        #expect(ids(state) == [])
        state.removalsOfAll = 0
        #expect(state.merge([.init(entry: entry, body: nil, isOnDisk: true)], of: key).count == 1)
        #expect(ids(state) == [1])
        #expect(ids(state, now + 1.1) == nil)
        state.epoch += 1
        #expect(ids(state) == nil)
        _ = state.merge([.init(entry: entry, body: nil, isOnDisk: true)], of: key)
        state.hidden.insert([1])
        #expect(state.merge([.init(entry: entry, body: nil, isOnDisk: true)], of: key).isEmpty)
        // What the disk has not, memory keeps.
        state.insert(.init(entry: entry, body: CacheBody(), isOnDisk: false), of: key, hash, replacing: [])
        #expect(state.merge([], of: key).map(\.entry.id) == [1])
    }

    // MARK: - Hidden entries

    @Test func whatIsHiddenStaysSoAndIsNotRememberedWithoutEnd() {
        let limit = HiddenEntries.limit
        var (hidden, greatest) = (HiddenEntries(), 0)
        func key(_ number: Int64) -> CacheKey { CacheKey(url: "http://a/\(number)") }
        // One of a clock that was ahead hides none of those that come now.
        hidden.insert([.max])
        for number in 1...Int64(3 * limit) {
            switch number % 3 {
            case 0: hidden.insert([number])
            case 1: hidden.insert(key(number), before: number + 1)
            default: hidden.insert(url: key(number).url, before: number + 1)
            }
            greatest = max(greatest, hidden.count)
        }
        #expect(greatest == limit)
        #expect((1...Int64(3 * limit)).allSatisfy { hidden.contains($0, key($0)) })
        #expect(hidden.contains(.max, key(0)))
        #expect(!hidden.contains(Int64(3 * limit) + 1, key(Int64(3 * limit))))
    }

    @Test func aRemovalOfAllEndsWhatIsHiddenOneByOne() {
        let key = CacheKey(url: "http://a/1")
        var hidden = HiddenEntries()
        hidden.insertAll(before: 5)
        hidden.insert([3, 7])
        hidden.insert(key, before: 9)
        hidden.insert(url: key.url, before: 8)
        #expect(hidden.count == 3)
        #expect(hidden.contains(4, key) && hidden.contains(8, key) && !hidden.contains(9, key))
        hidden.didRemoveAll()
        #expect(hidden.count == 0)
        // Of all that it could not remove before, the disk may still have some.
        #expect(hidden.contains(4, key) && !hidden.contains(7, key))
        hidden.insert(key, before: 8)
        hidden.insertAll(before: 9)
        #expect(hidden.count == 0 && hidden.contains(8, key) && !hidden.contains(9, key))
    }

    @Test func lookUpsWaitForTheLastChange() {
        let key = CacheKey(url: "http://a/1")
        var state = StoreState(memoryCapacity: 1 << 20, hasDisk: true)
        state.begin(key)
        state.begin(key)
        state.changes[key]?.lookups.append {}
        #expect(state.end(key).isEmpty)
        #expect(state.end(key).count == 1)
        #expect(state.changes.isEmpty)
    }
}
