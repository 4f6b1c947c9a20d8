import Dispatch
import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct DescriptorTableTests {
    @Test func openDescriptorsAreCounted() async {
        await #expect(processExitsWith: .success) {
            // Other threads open and close some, while a process begins.
            let isCounted = (0..<100).contains { _ in
                guard let before = DescriptorTable.count else { exit(2) }
                let added = (0..<20).map { _ in dup(2) }
                guard !added.contains(-1) else { exit(3) }
                defer { for descriptor in added { close(descriptor) } }
                return DescriptorTable.count == before + 20
            }
            guard isCounted else { exit(4) }
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

    @Test func thousandsOfFilesAreFetchedFromOneHost() async {
        await #expect(processExitsWith: .success) {
            alarm(100)
            guard let url = RealServers.nginx?.appendingPathComponent("1k.bin") else { exit(2) }
            FewDescriptorsTests.limitDescriptors(to: 256)
            do {
                let manager = FewDescriptorsTests.manager()
                let urls = Array(repeating: url, count: Rounds.count(3_000))
                try await FewDescriptorsTests.download(urls, manager)
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
    @Test func filesAreFetchedFromAThousandHosts() async {
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
            // The program has some left for itself.
            guard (DescriptorTable.count ?? 256) < 200 else { exit(4) }
        }
    }

    /// Descriptors that the program itself has opened, and closes, are not the library's to count beforehand.
    @Test(arguments: [24, 40, 56]) func aTransferWithoutADescriptorWaitsForOne(_ left: Int) async {
        await #expect(processExitsWith: .success) { [left] in
            alarm(100)
            guard let url = RealServers.nginx?.appendingPathComponent("1k.bin") else { exit(2) }
            let manager = FewDescriptorsTests.manager()
            manager.maximumConnectionsPerHost = 100
            do {
                FewDescriptorsTests.limitDescriptors(to: 256)
                // However many the process has inherited.
                var taken: [Int32] = []
                while (DescriptorTable.count ?? 256) < 256 - left { taken.append(dup(2)) }
                try await FewDescriptorsTests.download(Array(repeating: url, count: 40), manager)
                for descriptor in taken { close(descriptor) }
                try await FewDescriptorsTests.download(Array(repeating: url, count: 40), manager)
            } catch {
                print(error)
                exit(3)
            }
        }
    }

    /// The program takes all that are left between the look of the library and the opening of a download's
    /// files, and gives them back while another download moves.
    @Test func filesThatCannotBeOpenedAreOpenedLater() async {
        await #expect(processExitsWith: .success) {
            alarm(100)
            guard let nginx = RealServers.nginx else { exit(2) }
            let manager = FewDescriptorsTests.manager()
            FewDescriptorsTests.limitDescriptors(to: 256)
            do {
                let folder = try TemporaryDirectory()
                let slow = manager.downloadOperation(
                    for: URLRequest(url: nginx.appendingPathComponent("slow/1m.bin")),
                    to: folder.file("slow")
                )
                let (bytes, came) = AsyncStream.makeStream(of: Int64.self)
                slow.setDownloadProgress { _, total, _ in came.yield(total) }
                manager.operationQueue.addOperation(slow)
                for await count in bytes where count > 0 { break }
                var taken: [Int32] = []
                while case let descriptor = dup(2), descriptor >= 0 { taken.append(descriptor) }
                let quick = manager.downloadOperation(
                    for: URLRequest(url: nginx.appendingPathComponent("1k.bin")),
                    to: folder.file("quick")
                )
                manager.operationQueue.addOperation(quick)
                for await _ in bytes { break }
                guard !quick.isFinished else { exit(4) }
                for descriptor in taken { close(descriptor) }
                _ = try await quick.value
                guard !slow.isFinished else { exit(5) }
                slow.cancel()
                _ = try? await slow.value
            } catch {
                print(error)
                exit(3)
            }
        }
    }

    /// The server answers each request after a second, and takes another one for the body.
    @Test func outputFilesAreCountedBeforeTheyAreOpened() async throws {
        let server = try ScriptedServer { _ in
            let (head, rest) = (Gate(), Gate())
            DispatchQueue.global().asyncAfter(deadline: .now() + 1) { head.open() }
            DispatchQueue.global().asyncAfter(deadline: .now() + 2) { rest.open() }
            return .respond(body: "four").held(by: head).held(after: .body(2), by: rest)
        }
        await #expect(processExitsWith: .success) { [url = server.url as URL] in
            alarm(100)
            FewDescriptorsTests.limitDescriptors(to: 128)
            let manager = FewDescriptorsTests.manager()
            manager.maximumConnectionsPerHost = 100
            do {
                let folder = try TemporaryDirectory()
                let operations = (0..<100).map { index in
                    let operation = manager.operation(for: URLRequest(url: url))
                    let file = folder.file("\(index)")
                    if index.isMultiple(of: 2) {
                        operation.outputFile = file
                    } else {
                        operation.outputStream = OutputStream(url: file, append: false)
                    }
                    return operation
                }
                for operation in operations { manager.operationQueue.addOperation(operation) }
                for operation in operations { _ = try await operation.value }
            } catch {
                print(error)
                exit(3)
            }
        }
    }

    /// With none left at all it is an error, and no wait: nothing of the library's could give one back.
    @Test func withoutAnyDescriptorEachEndsWithAnError() async {
        await #expect(processExitsWith: .success) {
            alarm(100)
            guard let url = RealServers.nginx?.appendingPathComponent("1k.bin") else { exit(2) }
            let manager = FewDescriptorsTests.manager()
            do {
                try await FewDescriptorsTests.download([url], manager)
                let folder = try TemporaryDirectory()
                FewDescriptorsTests.limitDescriptors(to: 256)
                var taken: [Int32] = []
                while case let descriptor = dup(2), descriptor >= 0 { taken.append(descriptor) }
                let operations = (0..<40).map { index in
                    index.isMultiple(of: 2)
                        ? manager.operation(for: URLRequest(url: url))
                        : manager.downloadOperation(for: URLRequest(url: url), to: folder.file("\(index)"))
                }
                for operation in operations { manager.operationQueue.addOperation(operation) }
                for operation in operations {
                    // One may find the connection of the first download.
                    _ = try? await operation.value
                }
                for descriptor in taken { close(descriptor) }
                try await FewDescriptorsTests.download(Array(repeating: url, count: 40), manager)
            } catch {
                print(error)
                exit(3)
            }
        }
    }
}
