import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking

@Suite(.timeLimit(.minutes(1)))
struct DescriptorBudgetTests {
    /// How many transfers may start before somebody has to look, and how many connections are kept.
    @Test(arguments: [
        (nil, 1000, 256), (1 << 20, 1000, 256), (1024, 224, 128), (256, 56, 32), (64, 10, 8), (16, 0, 2),
    ])
    func aLimitIsEnoughForSoMany(limit: Int?, starts: Int, idle: Int) {
        var budget = DescriptorBudget(limit: limit)
        var count = 0
        while count < 1000, budget.has(DescriptorBudget.perStart) {
            budget.take(DescriptorBudget.perStart)
            count += 1
        }
        #expect(count == starts)
        #expect(budget.idleConnections == idle)
    }

    @Test func aLookSaysWhatIsLeft() {
        var budget = DescriptorBudget(limit: 256)
        budget.take(230)
        #expect(!budget.has(4))
        budget.didLook(open: 40, limit: 256, expected: 8)
        #expect(budget.has(176) && !budget.has(177))
        // The program has raised the limit.
        budget.didLook(open: 40, limit: 1024, expected: 0)
        #expect(budget.has(500))
        budget.didRunOut()
        #expect(!budget.has(1))
        budget.didLook(open: 40, limit: nil, expected: 0)
        budget.didRunOut()
        budget.take(4)
        #expect(!budget.has(1))
    }

    @Test func openDescriptorsAreCounted() async {
        await #expect(processExitsWith: .success) {
            guard let before = DescriptorTable.count else { exit(2) }
            for _ in 0..<20 { guard dup(2) >= 0 else { exit(3) } }
            guard DescriptorTable.count == before + 20 else { exit(4) }
            var limit = rlimit(rlim_cur: 100, rlim_max: 100)
            guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { exit(5) }
            guard DescriptorTable.limit == 100 else { exit(6) }
            var taken: [Int32] = []
            while case let descriptor = dup(2), descriptor >= 0 { taken.append(descriptor) }
            guard DescriptorTable.count == 100 else { exit(7) }
            // A sanitizer opens files when the process ends.
            for descriptor in taken { close(descriptor) }
        }
    }
}

/// A process with 256 descriptors and nginx.
@Suite(.timeLimit(.minutes(2)), .enabled(if: RealServers.nginx != nil))
struct FewDescriptorsTests {
    private static func limitDescriptors(to count: rlim_t) {
        var limit = rlimit(rlim_cur: count, rlim_max: count)
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { exit(90) }
    }

    private static func manager() -> OperationManager {
        let manager = OperationManager()
        manager.responseSerializer = HTTPResponseSerializer()
        manager.completionQueue = DispatchQueue(label: "callbacks")
        return manager
    }

    /// All at once: nothing but the library limits how many have files and connections.
    private static func download(_ urls: [URL], _ manager: OperationManager) async throws {
        let folder = try TemporaryDirectory()
        let operations = urls.enumerated().map { index, url in
            manager.downloadOperation(for: URLRequest(url: url), to: folder.file("\(index)"))
        }
        for operation in operations { manager.operationQueue.addOperation(operation) }
        for operation in operations { _ = try await operation.value }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        guard names.count == urls.count else { exit(91) }
    }

    @Test func thousandsOfFilesComeFromOneHost() async {
        await #expect(processExitsWith: .success) {
            alarm(100)
            guard let url = RealServers.nginx?.appendingPathComponent("1k.bin") else { exit(2) }
            FewDescriptorsTests.limitDescriptors(to: 256)
            do {
                let manager = FewDescriptorsTests.manager()
                try await FewDescriptorsTests.download(Array(repeating: url, count: 1000), manager)
                // More connections than there are descriptors.
                manager.maximumConnectionsPerHost = 1000
                try await FewDescriptorsTests.download(Array(repeating: url, count: 1000), manager)
            } catch {
                print(error)
                exit(3)
            }
        }
    }

    /// Each may have its connections, and all have a few; what is kept for later is closed.
    @Test func filesComeFromThousandHosts() async {
        await #expect(processExitsWith: .success) {
            alarm(100)
            guard let port = RealServers.nginx?.port else { exit(2) }
            let urls = (0..<1000).compactMap { URL(string: "http://h\($0).localhost:\(port)/1k.bin") }
            FewDescriptorsTests.limitDescriptors(to: 256)
            do {
                let manager = FewDescriptorsTests.manager()
                try await FewDescriptorsTests.download(urls, manager)
                let operations = urls.map { manager.operation(for: URLRequest(url: $0)) }
                for operation in operations { manager.operationQueue.addOperation(operation) }
                for operation in operations { _ = try await operation.value }
            } catch {
                print(error)
                exit(3)
            }
            guard (DescriptorTable.count ?? 256) < 150 else { exit(4) }
        }
    }

    /// Those that the program itself has opened, and closes, are not the library's to count beforehand.
    @Test func whoFindsNoDescriptorWaitsForOne() async {
        await #expect(processExitsWith: .success) {
            alarm(100)
            guard let url = RealServers.nginx?.appendingPathComponent("1k.bin") else { exit(2) }
            FewDescriptorsTests.limitDescriptors(to: 256)
            // However many the process has inherited, 56 are left.
            var taken: [Int32] = []
            while (DescriptorTable.count ?? 256) < 200 { taken.append(dup(2)) }
            do {
                let manager = FewDescriptorsTests.manager()
                manager.maximumConnectionsPerHost = 100
                try await FewDescriptorsTests.download(Array(repeating: url, count: 40), manager)
                for descriptor in taken { close(descriptor) }
                try await FewDescriptorsTests.download(Array(repeating: url, count: 40), manager)
            } catch {
                print(error)
                exit(3)
            }
        }
    }
}
