import Foundation
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Look-ups that wait for the disk's queue at the same time: answered in one turn, and each for itself.
@Suite(.timeLimit(.minutes(1)))
struct StoreBatchTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static func key(_ number: Int) -> CacheKey { CacheKey(url: "http://a/\(number)") }

    /// A store that keeps nothing in memory, with some entries on the disk.
    private func store(of count: Int, _ time: ManualTime? = nil) async throws -> TieredStore {
        let store = TieredStore.sample(directory, memory: 0, time: time)
        for number in 0..<count { try await store.put(Self.key(number), sampleBytes(100 + number)) }
        await onDispatchThread { store.waitForChanges() }
        return store
    }

    private func database() throws -> Database { try DamagedStore(directory: directory).database() }

    /// The lengths of what was found, by number.
    private func lengths(_ found: Recorder<(Int, [CacheEntry])>) -> [Int: [Int64]] {
        Dictionary(found.elements.map { ($0, $1.map(\.head.length)) }) { one, _ in one }
    }

    /// The turn that a look-up has asked for before the others came.
    @Test func thoseThatWaitTakeOneTurnOfTheQueue() async throws {
        let store = try await store(of: 20)
        let (found, turns) = (Recorder<(Int, [CacheEntry])>(), Recorder<Int>())
        store.answers.suspend()
        for number in 0..<20 {
            #expect(store.find(Self.key(number)) { found.append((number, $0)) } == nil)
            store.answers.async { turns.append(found.elements.count) }
        }
        store.answers.resume()
        #expect(try await turns.wait(count: 20) == Array(repeating: 20, count: 20))
        #expect(found.elements.map { $0.0 } == Array(0..<20))
        #expect(lengths(found) == Dictionary(uniqueKeysWithValues: (0..<20).map { ($0, [Int64(100 + $0)]) }))
    }

    @Test func ofManyTheQueueTakesSomeAtATime() async throws {
        let store = try await store(of: 1)
        let most = StoreState.maximumLookUps
        let (found, turns) = (Recorder<(Int, [CacheEntry])>(), Recorder<Int>())
        store.answers.suspend()
        for number in 0...2 * most {
            #expect(store.find(Self.key(0)) { found.append((number, $0)) } == nil)
        }
        store.answers.async { turns.append(found.elements.count) }
        store.answers.resume()
        try await found.wait(count: 2 * most + 1)
        #expect(found.elements.map { $0.0 } == Array(0...2 * most))
        #expect(found.elements.allSatisfy { $0.1.map(\.head.length) == [100] })
        // The queue's next work came before the rest of them.
        #expect(turns.elements == [most])
    }

    @Test func equalOnesAreOneQuestion() async throws {
        let store = try await store(of: 2)
        let found = Recorder<(Int, [CacheEntry])>()
        store.answers.suspend()
        for number in 0..<10 {
            #expect(store.find(Self.key(number % 3)) { found.append((number, $0)) } == nil || number % 3 == 2)
        }
        store.answers.resume()
        try await found.wait(count: 7)
        let expected = [0, 1, 3, 4, 6, 7, 9].map { ($0, [Int64(100 + $0 % 3)]) }
        #expect(lengths(found) == Dictionary(uniqueKeysWithValues: expected))
        // One row was decoded for them: what is read of a head is read once for its copies.
        let memos = found.elements.compactMap { number, entries in
            entries.first.map { (number % 3, ObjectIdentifier($0.head.memo)) }
        }
        for key in [0, 1] { #expect(Set(memos.filter { $0.0 == key }.map { $0.1 }).count == 1) }
        #expect(Set(memos.map { $0.1 }).count == 2)
    }

    @Test func aListenerThatTakesItsTimeHoldsUpNoChange() async throws {
        let store = try await store(of: 1)
        let (gate, called) = (Gate(), Gate())
        defer { gate.open() }
        #expect(
            store.find(Self.key(0)) { _ in
                called.open()
                try? gate.waitSynchronously()
            } == nil
        )
        try await called.wait()
        try await store.put(Self.key(1), sampleBytes(3))
        await onDispatchThread { store.waitForChanges() }
        #expect(try database().number("SELECT count(*) FROM entries") == 2)
        #expect(!gate.isOpen)
    }

    @Test func aDamagedRowDoesNoHarmToTheOthers() async throws {
        let store = try await store(of: 20)
        let found = Recorder<(Int, [CacheEntry])>()
        store.index.suspend()
        for number in 0..<20 {
            #expect(store.find(Self.key(number)) { found.append((number, $0)) } == nil)
        }
        for number in [3, 4, 19] {
            try database().execute(
                "UPDATE entries SET head = zeroblob(length(head)) WHERE url = '\(Self.key(number).url)'"
            )
        }
        store.index.resume()
        try await found.wait(count: 20)
        for (number, lengths) in lengths(found) {
            #expect(lengths == ([3, 4, 19].contains(number) ? [] : [Int64(100 + number)]))
        }
        await onDispatchThread { store.waitForChanges() }
        #expect(try database().number("SELECT count(*) FROM entries") == 17)
        // The transaction of the look-ups is over.
        try await store.put(Self.key(3), sampleBytes(7))
        #expect(try await store.found(Self.key(3)).map(\.head.length) == [7])
    }

    /// Another process changes the index between the first look-up and the queue's turn.
    @Test func aTurnSeesWhatAnotherProcessHasStored() async throws {
        let time = ManualTime()
        let (one, other) = (try await store(of: 1, time), TieredStore.sample(directory, memory: 0))
        let found = Recorder<(Int, [CacheEntry])>()
        one.index.suspend()
        #expect(one.find(Self.key(0)) { found.append((0, $0)) } == nil)
        try await other.put(Self.key(1), sampleBytes(5))
        await onDispatchThread { other.waitForChanges() }
        // Else the table of hashes would answer.
        time.advance(by: 2)
        #expect(one.find(Self.key(1)) { found.append((1, $0)) } == nil)
        one.index.resume()
        try await found.wait(count: 2)
        #expect(lengths(found) == [0: [100], 1: [5]])
    }

    @Test func oneWhoseKeyIsChangedWaitsAndTheOthersDoNot() async throws {
        let store = try await store(of: 2)
        let found = Recorder<(Int, [CacheEntry])>()
        store.index.suspend()
        store.bodies.suspend()
        for number in [0, 1] {
            #expect(store.find(Self.key(number)) { found.append((number, $0)) } == nil)
        }
        store.remove(nil, of: Self.key(0))
        store.index.resume()
        #expect(try await found.wait().map { $0.0 } == [1])
        await onDispatchThread { store.answers.sync {} }
        #expect(found.elements.count == 1)
        store.bodies.resume()
        try await found.wait(count: 2)
        #expect(lengths(found) == [0: [], 1: [101]])
    }

    @Test func anIndexThatIsFoundDamagedIsBegunAnew() async throws {
        let store = try await store(of: 3)
        let found = Recorder<(Int, [CacheEntry])>()
        store.index.suspend()
        for number in 0..<3 {
            #expect(store.find(Self.key(number)) { found.append((number, $0)) } == nil)
        }
        // Pages that the store has in memory are not read again without a change.
        try database().execute("UPDATE entries SET used = used + 1; PRAGMA wal_checkpoint(TRUNCATE)")
        let scene = DamagedStore(directory: directory)
        var bytes = try Data(contentsOf: scene.index)
        bytes.replaceSubrange(4096..., with: Data(count: bytes.count - 4096))
        try scene.overwrite(scene.index, with: bytes)
        store.index.resume()
        try await found.wait(count: 3)
        #expect(lengths(found) == [0: [], 1: [], 2: []])
        try await store.put(Self.key(1), sampleBytes(7))
        #expect(try await store.found(Self.key(1)).map(\.head.length) == [7])
        #expect(try database().number("SELECT count(*) FROM entries") == 1)
    }
}
