import Foundation
import Glibc
import OperationNetworkingImagesSystem
import OperationNetworkingTesting
import Testing

@Suite(.serialized, .timeLimit(.minutes(1))) struct DecoderProcessTests {
    private func request(_ format: DecoderFormat, _ data: Data) -> DecoderProcess.Request {
        .init(format: format, bytes: data, maximumPixels: 1 << 26, memory: 1 << 30, time: .seconds(20))
    }

    @Test func aProcessKnowsEveryFormatAndIsConfined() throws {
        let process = try DecoderProcess()
        #expect(process.formats == Set(DecoderFormat.allCases))
        #expect(process.isConfined)
    }

    @Test("A decoding process has only its socket and an empty environment")
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

    /// As when the application found another size, and asked for no scaling.
    @Test(
        arguments: [
            ("png", 0, 16, 8), ("png", 4, 4, 2), ("png", 1, 1, 1), ("png", 16, 16, 8),
            ("tiffTurned", 4, 2, 4),
        ] as [(String, UInt32, Int, Int)]
    )
    func theDecoderScalesByTheSizeThatItFinds(name: String, side: UInt32, width: Int, height: Int) throws {
        var request = request(name == "png" ? .png : .tiff, ExampleImage.named(name))
        request.orientation = name == "png" ? 1 : 0
        request.maximumSide = side == 0 ? nil : side
        let pixels = try DecoderProcess().decode(request)
        #expect((pixels.width, pixels.height) == (width, height))
    }

    @Test("An image is passed only to the decoder of its format")
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

    // MARK: - Not installed

    /// Sets a variable of the environment that decoder processes are started with, for the time of `body`.
    private func with<Result>(_ variable: String, _ value: String, _ body: () throws -> Result) rethrows
        -> Result
    {
        let old = getenv(variable).map { String(cString: $0) }
        setenv(variable, value, 1)
        defer { if let old { setenv(variable, old, 1) } else { unsetenv(variable) } }
        return try body()
    }

    @Test("Without loadable modules, built-in formats are decoded and others are errors")
    func aMissingModuleIsReported() throws {
        let process = try with("GDK_PIXBUF_MODULE_FILE", "/dev/null") { try DecoderProcess() }
        #expect(process.formats == [.png, .jpeg])
        #expect(throws: DecoderFailure.missing) {
            try process.decode(request(.webp, ExampleImage.named("webp")))
        }
        #expect(try process.decode(request(.png, ExampleImage.named("png"))).width == 16)
    }

    @Test("Without gdk-pixbuf, decoding fails")
    func aMissingLibraryIsReported() throws {
        let directory = try TemporaryDirectory()
        // A file that is no library, before the one that is.
        try Data("none".utf8).write(to: directory.file("libgdk_pixbuf-2.0.so.0"))
        let path = getenv("LD_LIBRARY_PATH").map { ":" + String(cString: $0) } ?? ""
        _ = with("LD_LIBRARY_PATH", directory.url.path + path) {
            #expect(throws: DecoderFailure.missing) { try DecoderProcess() }
        }
    }
}
