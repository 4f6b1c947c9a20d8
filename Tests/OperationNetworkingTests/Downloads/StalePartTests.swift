import Foundation
import FoundationNetworking
import Glibc
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking

@Suite struct StalePartTests {
    /// One free name does not: files of other programs had the names before when the download began.
    @Test func twoFreeNamesInARowEndTheSearch() throws {
        let directory = try TemporaryDirectory()
        // Others may read the first: it is another program's.
        let parts: [(name: String, mode: mode_t)] = [
            ("a.1.part", 0o644), ("a.3.part", 0o600), ("a.6.part", 0o600),
        ]
        for part in parts {
            let file = directory.file(part.name)
            try Data().write(to: file)
            #expect(chmod(file.path, part.mode) == 0)
        }
        try StalePart.remove(
            beside: directory.file("a"),
            of: URLRequest(url: URL(fileURLWithPath: "/file"))
        )
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted()
        #expect(names == ["a.1.part", "a.6.part"])
    }
}
