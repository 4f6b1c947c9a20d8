import Foundation
import OperationNetworkingTesting
import Testing

@testable import opget

@Suite struct OutputDescriptorTests {
    @Test(
        arguments: [
            ("-", 1), ("/dev/stdout", 1), ("/dev//./stdout", 1), ("/dev/stderr", 2), ("/dev/fd/7", 7),
            ("/proc/self/fd/12", 12), ("/proc/thread-self/fd/3", 3), ("/proc/\(getpid())/fd/4", 4),
            ("/dev/null", nil), ("/dev/fd", nil), ("/dev/fd/", nil), ("/dev/fd/x", nil), ("/dev/fd/-1", nil),
            ("/dev/fd/3/x", nil), ("/dev/fd/99999999999", nil), ("/proc/1/fd/1", nil), ("dev/stdout", nil),
            ("stdout", nil), ("", nil),
        ] as [(String, Int32?)]
    )
    func namesOfDescriptorsAreKnown(name: String, expected: Int32?) {
        #expect(OutputDescriptor.number(of: name) == expected)
    }

    @Test func linksToDescriptorsAreFollowed() throws {
        let directory = try TemporaryDirectory()
        let rows: [(name: String, target: String, number: Int32?)] = [
            ("out", "/dev/stdout", 1), ("error", "/dev/stderr", 2), ("fd", "/dev/fd/1", 1),
            ("self", "/proc/self/fd/7", 7), ("again", "out", 1), ("third", "./again", 1),
            ("folder", "/dev/fd", nil), ("below", "folder/5", 5), ("null", "/dev/null", nil),
            ("loop", "loop", nil), ("nothing", "absent", nil), ("other", "/proc/1/fd/1", nil),
        ]
        for row in rows {
            let path = directory.file(row.name).path
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: row.target)
            #expect(OutputDescriptor.number(of: path) == row.number, "\(row.name)")
        }
        #expect(OutputDescriptor.number(of: directory.file("folder/6").path) == 6)
        #expect(OutputDescriptor.number(of: directory.file("out/").path + "/") == nil)
        #expect(OutputDescriptor.number(of: directory.file("absent").path) == nil)
    }

    @Test func aDescriptorHasToBeTheCallersAndOpenForWriting() throws {
        let (reading, writing) = (open("/dev/null", O_RDONLY), open("/dev/null", O_WRONLY))
        let own = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { for descriptor in [reading, writing, own] { close(descriptor) } }
        try OutputDescriptor.check(writing)
        for descriptor in [reading, own, 100_000] {
            let failure = #expect(throws: Failure.self) { try OutputDescriptor.check(descriptor) }
            #expect(failure?.outcome == .file)
        }
    }
}
