import Foundation
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Damage at places that a seed chooses, before the store is opened and while it is.
@Suite(.timeLimit(.minutes(5)))
struct StoreFuzzTests {
    enum Damage: CaseIterable {
        /// A few bits anywhere in the index, or many in one of its pages.
        case bits, page
        /// Bits of its log.
        case log
        /// Bits of bodies.
        case bodies
        /// A file is cut, or gets zeros at its end.
        case lengths
        /// Two bodies have each other's names.
        case names
    }

    private let scene: DamagedStore

    init() throws {
        scene = DamagedStore(directory: try TemporaryDirectory(), count: 24)
    }

    @Test(arguments: Damage.allCases) func nothingWrongIsServed(after damage: Damage) async throws {
        try await scene.fill()
        // Keeps the log, in which all is that was stored since the last checkpoint.
        let writer = TieredStore.sample(scene.directory, memory: 0)
        if damage == .log {
            for number in 0..<scene.count {
                let (key, body) = (DamagedStore.key(number), DamagedStore.body(number))
                let old = try await writer.found(key).map(\.id)
                try await writer.put(key, body, DamagedStore.head(number), replacing: old)
            }
            for number in 0..<10 { writer.invalidate(DamagedStore.key(number)) }
            writer.waitForChanges()
        } else {
            try scene.database().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        writer.housekeeping.sync {}
        var (read, lost) = (0, 0)
        for seed in 0..<Rounds.count(50) {
            let damaged = DamagedStore(directory: try TemporaryDirectory(), count: scene.count)
            try FileManager.default.copyItem(at: scene.cache, to: damaged.cache)
            let count = try await damaged.round(damage, seed)
            read += count
            lost += scene.count - count
        }
        // It was damage, and not all of it.
        #expect(read > 0 && lost > 0)
    }

    // MARK: - Processes

    /// The work of a process: stores and reads, while another damages the directory.
    private static func work(_ path: String, seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<4 {
            let store = TieredStore(
                memoryCapacity: 200_000,
                diskCapacity: 3_000_000,
                directory: URL(fileURLWithPath: path, isDirectory: true)
            )
            for _ in 0..<80 {
                let number = Int.random(in: 0..<24, using: &random)
                let key = DamagedStore.key(number)
                let found = try await store.found(key)
                guard Bool.random(using: &random) else {
                    let (body, head) = (DamagedStore.body(number), DamagedStore.head(number))
                    try await store.put(key, body, head, replacing: found.map(\.id))
                    continue
                }
                for entry in found {
                    guard entry.head.head == DamagedStore.head(number).head else { throw BodyError.damaged }
                    guard let reader = try await store.reader(entry, key) else { continue }
                    guard let body = try? await reader.all(piece: 64 << 10) else { continue }
                    guard body == DamagedStore.body(number) else { throw BodyError.damaged }
                }
            }
            store.waitForChanges()
        }
    }

    /// Until the others are done: flips bits, cuts files, removes the index or the directory, or moves it away.
    /// It spares the log's index, which every process maps: see Caching.md.
    private func damage(until ended: Recorder<Void>, _ count: Int) async {
        var random = SeededGenerator(seed: 7)
        let files = FileManager.default
        let old = scene.directory.file("old")
        while (try? await ended.wait(count: count, within: .milliseconds(3))) == nil {
            let names = ((try? files.contentsOfDirectory(atPath: scene.cache.path)) ?? []).sorted()
            let chosen = names.filter { !$0.hasSuffix("-shm") }.randomElement(using: &random)
            let file = scene.cache.appendingPathComponent(chosen ?? "none")
            // What another process has just removed cannot be damaged any more.
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<6: try? scene.flip(3, in: file, nil, &random)
            case 6..<9: try? scene.cut(file, to: Int.random(in: 0..<100_000, using: &random))
            case 9: try? files.removeItem(at: scene.index)
            case 10: try? files.removeItem(at: scene.cache)
            default:
                try? files.removeItem(at: old)
                try? files.moveItem(at: scene.cache, to: old)
            }
        }
    }

    @Test func twoProcessesServeNothingWrongWhileAnotherDamagesTheirDirectory() async throws {
        let path = scene.cache.path
        let ended = Recorder<Void>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seed in 1...2 {
                group.addTask {
                    await #expect(processExitsWith: .success) { [path = path as String, seed = seed as Int] in
                        try await StoreFuzzTests.work(path, seed: UInt64(seed))
                    }
                    ended.append(())
                }
            }
            group.addTask { await damage(until: ended, 2) }
            try await group.waitForAll()
        }
        try await scene.expectToWork("after the damage")
    }
}

extension DamagedStore {
    /// Damages the directory, before it is opened or after, and looks at all that is found.
    /// - Returns: the number of bodies that are found by the next store.
    fileprivate func round(_ damage: StoreFuzzTests.Damage, _ seed: Int) async throws -> Int {
        var random = SeededGenerator(seed: UInt64(seed))
        let round = "\(damage), seed \(seed)"
        let mayBeOlder = damage == .log || damage == .lengths
        let open = seed % 3 == 2 ? TieredStore.sample(directory, memory: 0) : nil
        if let open { try await expectNothingWrong(open, round) }
        try apply(damage, &random)
        if let open { try await expectNothingWrong(open, round, mayBeOlder: mayBeOlder) }
        let store = TieredStore.sample(directory, memory: seed % 2 == 0 ? 0 : 1 << 20)
        let count = try await expectNothingWrong(store, round, mayBeOlder: mayBeOlder)
        try await expectToWork(round)
        return count
    }

    private func apply(_ damage: StoreFuzzTests.Damage, _ random: inout SeededGenerator) throws {
        let bodies = try FileManager.default.contentsOfDirectory(atPath: cache.path).sorted()
            .filter { $0.hasSuffix(".body") }.map { cache.appendingPathComponent($0) }
        let log = cache.appendingPathComponent("index.sqlite-wal")
        switch damage {
        case .bits: try flip(Int.random(in: 1...20, using: &random), in: index, nil, &random)
        case .page: try flip(40, in: index, 4096, &random)
        case .log: try flip(Int.random(in: 1...5, using: &random), in: log, nil, &random)
        case .bodies:
            for body in bodies where Bool.random(using: &random) { try flip(1, in: body, nil, &random) }
        case .lengths:
            let files = (bodies + [index, index]).shuffled(using: &random)
            for file in files.prefix(2) {
                let length = try Data(contentsOf: file).count
                try cut(file, to: Int.random(in: 0...length * 5 / 4, using: &random))
            }
        case .names:
            let two = bodies.shuffled(using: &random).prefix(2)
            let aside = directory.file("aside")
            for (old, new) in [(two[0], aside), (two[1], two[0]), (aside, two[1])] {
                try FileManager.default.moveItem(at: old, to: new)
            }
        }
    }

    /// Flips bits, all of them in one page of a length; `nil`: anywhere.
    fileprivate func flip(
        _ count: Int,
        in file: URL,
        _ page: Int?,
        _ random: inout SeededGenerator
    ) throws {
        var bytes = try Data(contentsOf: file)
        guard !bytes.isEmpty else { return }
        var range = bytes.indices
        if let page, bytes.count >= page {
            let start = Int.random(in: 0..<bytes.count / page, using: &random) * page
            range = start..<start + page
        }
        for _ in 0..<count {
            bytes[Int.random(in: range, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        try overwrite(file, with: bytes)
    }
}
