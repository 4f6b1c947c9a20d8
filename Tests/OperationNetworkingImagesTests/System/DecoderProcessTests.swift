import Foundation
import Glibc
import OperationNetworkingImagesSystem
import Testing

@Suite(.timeLimit(.minutes(1))) struct DecoderProcessTests {
    private func request(_ format: DecoderFormat, _ data: Data) -> DecoderProcess.Request {
        .init(format: format, bytes: data, maximumPixels: 1 << 26, memory: 1 << 30, time: .seconds(20))
    }

    @Test func aProcessKnowsEveryFormatAndIsConfined() throws {
        let process = try DecoderProcess()
        #expect(process.formats == Set(DecoderFormat.allCases))
        #expect(process.isConfined)
    }

    @Test("A process has no descriptor but its socket, and nothing of the environment")
    func aProcessHasNothingOfTheApplication() throws {
        setenv("OPERATIONNETWORKING_TEST_SECRET", "secret", 1)
        defer { unsetenv("OPERATIONNETWORKING_TEST_SECRET") }
        let process = try DecoderProcess()
        let folder = "/proc/\(process.identifier)"
        let environment = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/environ"))
        #expect(environment.range(of: Data("SECRET".utf8)) == nil)
        let links = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/fd").map {
            try FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/fd/\($0)")
        }
        #expect(links.filter { $0.hasPrefix("socket:") }.count == 1)
        #expect(links.allSatisfy { $0.hasPrefix("socket:") || $0 == "/dev/null" || $0.hasSuffix("/statm") })
    }

    @Test func theDecodersOwnReadingOfTheSizeIsLimitedToo() throws {
        let process = try DecoderProcess()
        var small = request(.png, ExampleImage.named("png"))
        small.maximumPixels = 127
        #expect(throws: DecoderFailure.tooLarge) { try process.decode(small) }
        #expect(try process.decode(request(.png, ExampleImage.named("png"))).width == 16)
    }

    @Test("An image is given to the decoder of its format, and to no other")
    func anotherFormatIsMalformed() throws {
        let process = try DecoderProcess()
        for format in DecoderFormat.allCases where format != .gif {
            #expect { try process.decode(request(format, ExampleImage.named("gif"))) } throws: { error in
                if case .malformed? = error as? DecoderFailure { true } else { false }
            }
        }
        #expect(try process.decode(request(.gif, ExampleImage.named("gif"))).width == 16)
    }

    @Test func aProcessThatIsKilledIsAnError() throws {
        let process = try DecoderProcess()
        #expect(process.isWaiting)
        kill(process.identifier, SIGKILL)
        #expect(throws: DecoderFailure.ended(signal: SIGKILL)) {
            try process.decode(request(.png, ExampleImage.named("png")))
        }
        #expect(!process.isWaiting)
    }

    @Test func aProcessEndsWithItsOwner() throws {
        var process: DecoderProcess? = try DecoderProcess()
        let identifier = try #require(process?.identifier)
        #expect(kill(identifier, 0) == 0)
        process = nil
        #expect(kill(identifier, 0) == -1)
    }
}
