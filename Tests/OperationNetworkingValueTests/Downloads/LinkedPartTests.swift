import Foundation
import FoundationNetworking
import Glibc
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct LinkedPartTests {
    /// Another name of the file is the user's, unless a mark or a checkpoint says that it was a part.
    @Test func aLinkThatTheUserMadeStays() throws {
        let directory = try TemporaryDirectory()
        let target = directory.file("a")
        try Data("theirs".utf8).write(to: target)
        for name in ["a.part", "a.1.part"] {
            #expect(link(target.path, directory.file(name).path) == 0)
        }
        try Data("of another program".utf8).write(to: directory.file("a.1.part.resume"))
        #expect(throws: DownloadError.destinationExists(target)) {
            try PartialDownload(.sample, to: target, replacesFile: false)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted()
        #expect(names == ["a", "a.1.part", "a.1.part.resume", "a.part"])
    }
}
