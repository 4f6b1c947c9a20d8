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

    // MARK: - Moments

    @Test func aChangeConcernsWhatWasRequestedBefore() {
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

    // MARK: - Look-ups

    private static let key = CacheKey(url: "http://a/1")
    private static let entry = CacheEntry(id: 1, head: sampleHead(key.url, length: 3))

    private static func variant(_ entry: CacheEntry = entry, isOnDisk: Bool = true) -> StoredVariant {
        StoredVariant(partition: "", entry: entry, isOnDisk: isOnDisk)
    }

    /// The rows of the table of ``StoreState``.
    @Test func memoryAnswersWhenItMay() {
        let (key, now) = (Self.key, MonotonicTime(seconds: 100))
        func ids(_ state: StoreState, _ time: MonotonicTime = now) -> [Int64]? {
            var state = state
            return state.find(key, now: time)?.map(\.id)
        }
        var state = StoreState(memoryCapacity: 1 << 20, hasDisk: false)
        #expect(ids(state) == [])
        state = StoreState(memoryCapacity: 1 << 20, hasDisk: true)
        #expect(ids(state) == nil)
        state.merge(nil, of: key.url, now: now)
        #expect(ids(state) == [])
        #expect(ids(state, now + 1.1) == nil)
        state.merge(HeadFile([Self.variant()]), of: key.url, now: now)
        #expect(ids(state) == [1])
        #expect(state.find(CacheKey(url: key.url, partition: "other"), now: now) == [])
        state.beginRemovalOfAll()
        #expect(ids(state, now + 1.1) == [1])
        state.finishRemovalOfAll()
        #expect(ids(state, now + 1.1) == nil)
        // What the disk has not, memory keeps.
        state.memory.apply(
            .insert(Self.variant(isOnDisk: false), replacing: [], invalidated: nil),
            to: key.url
        )
        state.merge(nil, of: key.url, now: now)
        #expect(ids(state) == [1])
        #expect(state.disableDisk().isEmpty)
        #expect(ids(state, now + 1.1) == [1])
    }

    @Test func aLookupIsMergedUnlessSomethingChanged() {
        let (key, now) = (Self.key, MonotonicTime(seconds: 100))
        let file = HeadFile([Self.variant()])
        var state = StoreState(memoryCapacity: 1 << 20, hasDisk: true)
        func take(_ look: DiskTier.Look, known: UInt64? = nil, after seconds: Double = 0) -> [CacheEntry]? {
            guard case .entries(let all) = state.take(look, known: known, for: key, now: now + seconds) else {
                return nil
            }
            return all
        }
        #expect(take(.same) == [])
        #expect(take(.other(file)) == [Self.entry])
        #expect(take(.same, known: file.generation, after: 2) == [Self.entry])
        #expect(state.find(key, now: now + 2.5) == [Self.entry])
        // A change is on its way: memory has it already, if the disk has what it was made of.
        state.begin(key.url)
        state.memory.apply(.removeAll, to: key.url)
        #expect(take(.same, known: file.generation, after: 4) == [])
        #expect(take(.other(HeadFile([Self.variant()])), known: file.generation, after: 4) == nil)
        _ = state.finish(key.url, nil, now: now)
        // It has left memory since it was known.
        state.memory.removeAll()
        #expect(take(.same, known: file.generation) == nil)
        // Memory that is too small keeps nothing, and the answer is the same.
        state = StoreState(memoryCapacity: 0, hasDisk: true)
        #expect(take(.other(file)) == [Self.entry])
        #expect(state.find(key, now: now) == nil)
        // What is on its way to the disk alone is waited for.
        state.begin(key.url)
        #expect(take(.same) == nil)
    }

    @Test func lookupsWaitForTheLastChange() {
        var state = StoreState(memoryCapacity: 1 << 20, hasDisk: true)
        let url = Self.key.url
        state.begin(url)
        state.begin(url)
        state.wait(for: url) {}
        #expect(state.finish(url, nil, now: .now).isEmpty)
        #expect(state.finish(url, nil, now: .now).count == 1)
        #expect(state.finishedChanges == 2)
    }

    // MARK: - Changes

    @Test func changesOfVariants() {
        let other = StoredVariant(
            partition: "other",
            entry: CacheEntry(id: 2, head: sampleHead(Self.key.url, length: 3)),
            isOnDisk: true
        )
        func after(_ change: StoreChange, _ variants: [StoredVariant] = [Self.variant(), other])
            -> [StoredVariant]
        {
            var variants = variants
            change.apply(to: &variants)
            return variants
        }
        #expect(after(.remove([1])) == [other])
        #expect(after(.removeAll) == [])
        #expect(after(.invalidate(partition: "other")).map(\.entry.head.isInvalidated) == [false, true])
        let new = Self.variant(CacheEntry(id: 3, head: sampleHead(Self.key.url, length: 9)))
        #expect(after(.insert(new, replacing: [1], invalidated: [])) == [other, new])
        // Invalidated since it was looked up, in its partition; or before, which it answers.
        let marked = after(.invalidate(partition: ""))
        for (known, isMarked) in [([], true), ([1], false), (nil, false)] as [(Set<Int64>?, Bool)] {
            let stored = after(.insert(new, replacing: [1], invalidated: known), marked).last
            #expect(stored?.entry.head.isInvalidated == isMarked)
        }
        let markedOther = after(.invalidate(partition: "other"))
        let beside = after(.insert(new, replacing: [], invalidated: []), markedOther).last
        #expect(beside == new)
        // One that is not there any more is not brought back.
        #expect(after(.update(CacheEntry(id: 9, head: new.entry.head), to: new.entry.head)).count == 2)
        let many = (0..<70).map { Self.variant(CacheEntry(id: 100 + $0, head: new.entry.head)) }
        let kept = many.reduce([]) { after(.insert($1, replacing: [], invalidated: nil), $0) }
        #expect(kept == Array(many.suffix(64)))
    }

    // MARK: - The form on the disk

    private static let file = HeadFile([
        StoredVariant(
            partition: "trust jar",
            entry: CacheEntry(
                id: .max,
                head: sampleHead(key.url, length: 3, ["ETag": "\"é\"", "Vary": "Accept"])
            ),
            isOnDisk: true
        ),
        variant(),
    ])

    @Test func aHeadFileIsReadAsItWasWritten() {
        let octets = Self.file.encoded
        #expect(HeadFile(encoded: octets, for: Self.key.url) == Self.file)
        #expect(HeadFile.generation(octets) == Self.file.generation)
        #expect(HeadFile(Self.file.variants) != Self.file)
    }

    @Test func aHeadFileOfAnotherFormOrForAnotherURLIsNone() {
        let octets = Self.file.encoded
        for end in octets.indices {
            #expect(HeadFile(encoded: Array(octets[..<end]), for: Self.key.url) == nil)
        }
        #expect(HeadFile(encoded: octets + [0], for: Self.key.url) == nil)
        #expect(HeadFile(encoded: octets, for: "http://a/2") == nil)
        var other = octets
        other[4] = HeadFile.format + 1
        #expect(HeadFile(encoded: other, for: Self.key.url) == nil && HeadFile.generation(other) == nil)
    }

    /// No octets trap, and none make another URL's response.
    @Test func damagedHeadFilesAreReadWithoutATrap() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<20_000 {
            var octets = Self.file.encoded
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<octets.count, using: &random)
                octets[index] = Bool.random(using: &random) ? 0xFF : .random(in: 0...255, using: &random)
            }
            let file = HeadFile(encoded: octets, for: Self.key.url)
            #expect(file?.variants.allSatisfy { $0.entry.head.url == Self.key.url } ?? true)
        }
    }

    @Test(arguments: [
        ("0123456789abcdef.body", CacheFileName.Kind.body), ("0123456789abcdef.new", .new),
        (String(repeating: "0", count: 64) + ".head", .head), ("0123456789abcdef.head", nil),
        ("0123456789ABCDEF.body", nil), ("0123456789abcde.body", nil), ("0123456789abcdef.body.", nil),
        ("0123456789abcdef", nil), ("format", nil), ("", nil), (".body", nil), ("0123456789abcdef.part", nil),
    ])
    func namesOfTheCache(text: String, kind: CacheFileName.Kind?) {
        #expect(CacheFileName(text)?.kind == kind)
    }

    @Test func namesThatAreGivenAreKnown() {
        #expect(CacheFileName(CacheFileName.body(-1))?.kind == .body)
        #expect(CacheFileName(CacheFileName.body(0))?.kind == .body)
        #expect(CacheFileName(CacheFileName.new)?.kind == .new)
        #expect(CacheFileName.head("http://a/").flatMap { CacheFileName($0) }?.kind == .head)
    }
}
