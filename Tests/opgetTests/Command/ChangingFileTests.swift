import Foundation
import Glibc
import OperationNetworkingTesting
import Testing

@testable import opget

/// Files that another program changes or replaces while the server is asked about them.
@Suite(.serialized) struct ChangingFileTests {
    /// A change that another program makes to `a`.
    enum Change: CaseIterable, Sendable {
        case written
        /// By `b`.
        case replaced
        /// `a` is a link to `b`, which is removed.
        case targetRemoved

        func make(in directory: TemporaryDirectory) {
            let (file, other) = (directory.file("a"), directory.file("b"))
            switch self {
            case .written: truncate(file.path, 2)
            case .replaced: rename(other.path, file.path)
            case .targetRemoved: unlink(other.path)
            }
        }
    }

    private let opget: Opget

    init() throws {
        opget = try Opget()
    }

    /// The server's file has the same length and bytes as the one that was there.
    @Test(arguments: ["-c", "-N"], Change.allCases)
    func aFileThatIsChangedWhileTheServerIsAskedStaysAndIsAnError(
        option: String,
        change: Change
    ) async throws {
        let directory = opget.directory
        let server = try ScriptedServer(
            serving: Representation(
                "one",
                entityTag: .strong("v1"),
                lastModified: Date(timeIntervalSince1970: 1_700_000_000)
            ),
            answers: [
                .currentRepresentation.performing(after: 0) { change.make(in: directory) },
                .currentRepresentation,
            ]
        )
        if change == .targetRemoved {
            try opget.write("one", "b")
            #expect(symlink("b", directory.file("a").path) == 0)
        } else {
            try opget.write("one", "a")
            if change == .replaced { try opget.write("two", "b") }
        }
        let result = try await opget("--json", option, server.url(path: "a").absoluteString)
        #expect(result.code == 11)
        #expect(result.errors.contains("was changed or replaced while it was checked, and is left"))
        #expect(result.output.contains("\"errorClass\":\"exists\""))
        #expect(server.requests.count == 1)
        #expect(try opget.files() == ["a"])
        switch change {
        case .written: #expect(try opget.text("a") == "on")
        case .replaced: #expect(try opget.text("a") == "two")
        case .targetRemoved: break
        }
    }
}
