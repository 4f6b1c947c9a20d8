import Foundation
import Glibc
import Testing

@testable import OperationNetworkingTesting
@testable import opget

@Suite struct InputFileTests {
    @Test(arguments: ["-", "/dev/stdin", "/dev/fd/63", "/proc/self/fd/0", "/dev/tty", "/dev/zero"])
    func inputFromADescriptorOrADeviceIsNotRepeatable(path: String) {
        #expect(InputFile.isPassing(path))
    }

    @Test(arguments: ["/dev/null", "/etc/passwd", "/", "/no such file", "stdin"])
    func inputFromAFileIsRepeatable(path: String) {
        #expect(!InputFile.isPassing(path))
    }

    @Test func inputFromAPipeIsNotRepeatableAndNotTyped() throws {
        let directory = try TemporaryDirectory()
        let fifo = directory.file("fifo").path
        #expect(mkfifo(fifo, 0o600) == 0)
        #expect(InputFile.isPassing(fifo))
        #expect(!InputFile.isTyped(fifo))
    }

    @Test(arguments: [("-", true), ("/dev/tty", true), ("/etc/passwd", false), ("/no such file", false)])
    func typedInputComesFromATerminal(path: String, isTyped: Bool) {
        #expect(InputFile.isTyped(path) == isTyped)
    }

    @Test func everyFileThatIsReadCounts() throws {
        let command = try OpgetCommand(arguments: [
            "-i", "1", "-i", "2", "--checksums", "3", "--cacert", "4", "--capath", "5", "--cert", "6",
            "--key",
            "7", "--netrc-file", "8", "--cookie-jar", "9",
        ])
        #expect(command.inputs == ["1", "2", "3"])
        #expect(command.otherInputs == ["4", "5", "6", "7", "8", "9"])
    }
}
