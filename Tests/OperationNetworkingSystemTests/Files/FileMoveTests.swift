import Foundation
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

struct FileMoveTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func path(_ name: String) -> String { folder.file(name).path }

    @Test(arguments: FileMove.allCases)
    func aFileGetsAFreeName(by way: FileMove) throws {
        try Data("new".utf8).write(to: folder.file("old"))
        try FileMove.move(path("old"), to: path("new"), by: [way])
        #expect(try Data(contentsOf: folder.file("new")) == Data("new".utf8))
        #expect(!FileManager.default.fileExists(atPath: path("old")))
    }

    @Test(arguments: FileMove.allCases, ["file", "link", "folder"])
    func aTakenNameIsLeftAlone(by way: FileMove, obstacle: String) throws {
        try Data("new".utf8).write(to: folder.file("old"))
        switch obstacle {
        case "file": try Data("kept".utf8).write(to: folder.file("new"))
        case "link":
            try FileManager.default.createSymbolicLink(atPath: path("new"), withDestinationPath: "nowhere")
        default:
            try FileManager.default.createDirectory(
                at: folder.file("new"),
                withIntermediateDirectories: false
            )
        }
        #expect { try FileMove.move(path("old"), to: path("new"), by: [way]) } throws: { error in
            (error as? SystemError)?.code == SystemError.exists
        }
        #expect(try Data(contentsOf: folder.file("old")) == Data("new".utf8))
        if obstacle == "file" { #expect(try Data(contentsOf: folder.file("new")) == Data("kept".utf8)) }
        if obstacle == "link" {
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path("new")) == "nowhere")
        }
    }

    @Test(arguments: FileMove.allCases)
    func aMissingFileTakesNoName(way: FileMove) {
        #expect(throws: SystemError.self) { try FileMove.move(path("old"), to: path("new"), by: [way]) }
        #expect(!FileManager.default.fileExists(atPath: path("new")))
    }
}
