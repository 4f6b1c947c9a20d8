import Foundation
import FoundationNetworking
import Glibc
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct StalePartTests {
    /// Two do not: of three parts the first two may be gone.
    @Test func threeFreeNamesInARowEndTheSearch() throws {
        let directory = try TemporaryDirectory()
        // Others may read the first: it is another program's.
        let parts: [(name: String, mode: mode_t)] = [
            ("a.1.part", 0o644), ("a.3.part", 0o600), ("a.7.part", 0o600),
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
        #expect(names == ["a.1.part", "a.7.part"])
    }

    /// A server has many sites, and has said nothing of another one's file.
    @Test func thePartOfAnotherSiteStays() throws {
        let directory = try TemporaryDirectory()
        var request = URLRequest.sample
        request.setValue("other.example", forHTTPHeaderField: "Host")
        let download = try PartialDownload(request, to: directory.file("a"), replacesFile: false)
        try download.begin(.start, total: 10, origin: Sample.origin()) { checkpoint in
            checkpoint.copy = DownloadCheckpoint.Copy(
                source: SourceFile(
                    identity: FileIdentity(device: 1, inode: 2),
                    stamp: FileStamp(length: 5, seconds: 0, nanoseconds: 0)
                ),
                isComplete: true
            )
        }
        try download.write("01234")
        try download.flush()
        download.close()
        func names() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted()
        }
        try StalePart.remove(beside: directory.file("a"), of: .sample)
        #expect(try names() == ["a.part", "a.part.resume"])
        try StalePart.remove(beside: directory.file("a"), of: request)
        #expect(try names() == [])
    }
}
