import Foundation
import FoundationNetworking
import Glibc
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(1)))
struct PartialDownloadTests {
    private let directory: TemporaryDirectory
    private let machine = Machine()

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func open(
        _ request: URLRequest = .sample,
        under verification: ServerVerification? = nil,
        asksAboutServers: Bool = false,
        replacesFile: Bool = false
    ) throws -> PartialDownload {
        try PartialDownload(
            request,
            under: verification,
            asksAboutServers: asksAboutServers,
            to: directory.file("a"),
            replacesFile: replacesFile,
            in: machine.environment
        )
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted()
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOf: directory.file(name), encoding: .utf8)
    }

    private func put(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: directory.file(name))
    }

    /// One that has received the beginning of ten bytes, and is gone.
    private func leave(_ text: String, settled: Bool = true) throws {
        let download = try open()
        try download.begin(.start(nil), total: 10, origin: Sample.origin())
        try download.write(text)
        if settled { try download.flush() }
        download.close()
    }

    // MARK: - From the first byte to the name

    @Test func aCompleteFileGetsItsNameAndNothingElseStays() throws {
        let download = try open()
        #expect(download.recovered == nil && download.lost == nil)
        try download.begin(.start(nil), total: 10, origin: Sample.origin())
        #expect(try names() == ["a.part", "a.part.resume"])
        try download.write("01234")
        try download.write("56789")
        try download.finish(modified: 784_111_777)
        #expect(try names() == ["a"])
        #expect(try text("a") == "0123456789")
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.file("a").path)
        #expect((attributes[.modificationDate] as? Date)?.timeIntervalSince1970 == 784_111_777)
    }

    /// An operation begins to write a file of that name after the name was found to be free.
    @Test func aFileThatAnOperationBeginsMeanwhileIsNotReplaced() throws {
        let download = try open(replacesFile: true)
        try download.begin(.start(nil), total: 5, origin: Sample.origin())
        try download.write("01234")
        let begun = Machine.Box<OutputFile?>(nil)
        machine.fault.value = { [directory] change in
            guard case .rename(_, to: "a") = change, begun.value == nil else { return nil }
            begun.value = try? OutputFile(path: directory.file("a").path)
            _ = try? begun.value?.write(Array("begun".utf8).span)
            return nil
        }
        #expect(throws: DownloadError.inUse(directory.file("a"))) { try download.finish(modified: nil) }
        #expect(try text("a") == "begun")
        #expect(try names() == ["a", "a.part", "a.part.resume"])
        try begun.value?.close()
        try download.finish(modified: nil)
        #expect(try text("a") == "01234")
        #expect(try names() == ["a"])
    }

    @Test func anEmptyFileGetsItsName() throws {
        let download = try open()
        try download.begin(.start(nil), total: 0, origin: Sample.origin())
        try download.finish(modified: nil)
        #expect(try names() == ["a"])
    }

    @Test func oneThatNeverBeganLeavesNothing() throws {
        try open().close()
        #expect(try names() == [])
        let download = try open()
        try download.begin(.start(nil), total: 10, origin: Sample.origin())
        try download.flush()
        download.close()
        #expect(try names() == [])
    }

    @Test func discardingLeavesNothing() throws {
        let download = try open()
        try download.begin(.start(nil), total: 10, origin: Sample.origin())
        try download.write("01234")
        try download.flush()
        try download.discard()
        #expect(try names() == [])
    }

    @Test(arguments: [true, false])
    func aLaterOneContinuesWithWhatIsThere(settled: Bool) throws {
        try leave("01234", settled: settled)
        let download = try open()
        #expect(download.recovered?.offset == 5)
        #expect(download.recovered?.total == 10)
        #expect(download.recovered?.validator == EntityValidator(["ETag": "\"v1\""]))
        try download.begin(.end, total: nil, origin: Sample.origin())
        try download.write("56789")
        try download.finish(modified: nil)
        #expect(try text("a") == "0123456789")
        #expect(try names() == ["a"])
    }

    @Test func afterALossOfPowerOnlyWhatIsCommittedIsKept() throws {
        try leave("01234")
        let again = try open()
        try again.begin(.end, total: nil, origin: Sample.origin())
        try again.write("567")
        again.close()
        machine.session = "another boot"
        let download = try open()
        #expect(download.recovered?.offset == 5)
        #expect(try text("a.part") == "01234")
    }

    @Test func aDamagedBlockIsDiscarded() throws {
        let first = try open()
        try first.begin(.start(nil), total: 10, origin: Sample.origin())
        for piece in ["0123", "45"] {
            try first.write(piece)
            try first.flush()
        }
        first.close()
        try put("0123x5", "a.part")
        #expect(try open().recovered?.offset == 4)
        #expect(try text("a.part") == "0123")
        // What is kept is written down, so that what comes behind it is not taken for committed.
        try put("012345", "a.part")
        machine.session = "another boot"
        #expect(try open().recovered?.offset == 4)
        try put("x123", "a.part")
        let download = try open()
        #expect(download.recovered == nil && download.lost == .dataLost)
    }

    /// A disk that fails for a moment costs no bytes that are there.
    @Test func aBlockThatCannotBeReadIsAnErrorAndNotAChange() throws {
        try put("01234", "file")
        let folder = try DownloadFolder(path: directory.url.path)
        let digest = try Array("234".utf8).span.sha256Text()
        let block = DownloadCheckpoint.Block(end: 5, length: 3, digest: digest)
        let file = try #require(try folder.open("file"))
        #expect(try block.isIntact(in: file))
        try file.truncate(to: 4)
        #expect(try !block.isIntact(in: file))
        // One that was opened for its name alone (O_PATH).
        let unreadable = try folder.identify("file")
        #expect(throws: SystemError.self) { try block.isIntact(in: unreadable) }
    }

    @Test func anotherRequestStartsOverAndKeepsTheBytesUntilItsAnswerComes() throws {
        try leave("01234")
        var request = URLRequest.sample
        request.setValue("de", forHTTPHeaderField: "Accept-Language")
        let download = try open(request)
        #expect(download.recovered == nil && download.lost == .requestChanged)
        #expect(download.count == 0)
        download.close()
        #expect(try text("a.part") == "01234")
        let again = try open(request)
        try again.begin(.start(nil), total: 3, origin: Sample.origin())
        #expect(try text("a.part") == "")
        try again.write("abc")
        try again.finish(modified: nil)
        #expect(try text("a") == "abc")
        #expect(try names() == ["a"])
    }

    @Test func startingOverForgetsTheBytes() throws {
        let download = try open()
        try download.begin(.start(nil), total: 10, origin: Sample.origin())
        try download.write("01234")
        try download.flush()
        try download.begin(.start(nil), total: 3, origin: Sample.origin(["ETag": "\"v2\""]))
        #expect(download.count == 0 && download.committed == 0)
        try download.write("abc")
        try download.finish(modified: nil)
        #expect(try text("a") == "abc")
    }

    @Test func bytesThatComeAgainAreComparedAndNotWritten() throws {
        try leave("01234")
        let download = try open()
        try download.begin(.again(from: 2), total: nil, origin: Sample.origin())
        try download.write("2")
        try download.write("3456")
        #expect(download.count == 7)
        try download.begin(.again(from: 0), total: nil, origin: Sample.origin())
        try download.write("012")
        #expect(throws: DownloadError.incomplete(directory.file("a"), received: 3, expected: 10)) {
            try download.finish(modified: nil)
        }
        #expect(throws: PartialDownload.OverlapDifference(offset: 3)) { try download.write("3x567") }
        #expect(throws: PartialDownload.OverlapDifference(offset: 3)) { try download.write("34567") }
        #expect(try text("a.part") == "0123456")
    }

    /// Another process takes the name of the part, or renames it, during the look.
    @Test func aPartThatAnotherProcessMakesMeanwhileIsInUse() throws {
        machine.fault.value = { [directory] change in
            guard case .create("a.part", _) = change else { return nil }
            rename(directory.file("a.part").path, directory.file("a").path)
            return nil
        }
        #expect(throws: DownloadError.inUse(directory.file("a"))) { try open() }
        #expect(try names() == ["a"])
    }

    @Test func bytesOfNobodyAreLeftAlone() throws {
        try put("theirs", "a.part")
        let download = try open()
        #expect(download.partURL.lastPathComponent == "a.1.part")
        try download.begin(.start(nil), total: 1, origin: Sample.origin())
        try download.write("x")
        try download.finish(modified: nil)
        #expect(try names() == ["a", "a.part"])
        #expect(try text("a.part") == "theirs")
    }

    /// Nothing shows whose bytes they are.
    @Test func aPartWithAnUnreadableCheckpointIsLeftAloneAndReported() throws {
        try leave("01234")
        let torn = "OperationNetworking-download \(DownloadCheckpoint.schema) torn\n"
        try put(torn, "a.part.resume")
        let download = try PartPair(
            .sample,
            to: directory.file("a"),
            replacesFile: false,
            in: machine.environment
        )
        #expect(download.lost == .checkpointUnreadable)
        #expect(download.current.partURL.lastPathComponent == "a.1.part")
        #expect(try text("a.part") == "01234" && text("a.part.resume") == torn)
    }

    /// FAT shows it to all. `mode`: what a file that was created with 0600 is shown as.
    @Test(arguments: [0o600, 0o644] as [mode_t])
    func aCheckpointThatOthersMayReadHoldsNoQuery(mode: mode_t) throws {
        let request = try Sample.request("http://example.com/file?sign=hidden")
        let origin = DownloadCheckpoint.Response(
            url: "http://cdn.example.com/file?token=hidden",
            fields: ["ETag": "\"v1\"", "Content-Location": "/file?key=hidden"],
            isHTTP10: false
        )
        let first = try open(request)
        #expect(chmod(directory.file("a.part").path, mode) == 0)
        try first.begin(.start(nil), total: 10, origin: origin) { $0.name = "a" }
        try first.write("01234")
        try first.flush()
        #expect(try text("a.part.resume").contains("hidden") == (mode == 0o600))
        #expect(first.checkpoint?.origin == origin)
        first.close()
        // Nothing but the checkpoint says what to ask, and it does not say all.
        let checkpoint = directory.file("a.part.resume")
        if mode == 0o600 {
            #expect(try DownloadOperation(resuming: checkpoint).request.url == request.url)
        } else {
            #expect(throws: DownloadError.checkpointUnreadable(checkpoint)) {
                try DownloadOperation(resuming: checkpoint)
            }
        }
        // Who asks the same goes on.
        #expect(try open(request).count == 5)
    }

    @Test func aPartOfAProcessThatDiedWhileCreatingItIsCreatedAgain() throws {
        try put("", "a.part")
        #expect(chmod(directory.file("a.part").path, 0o600) == 0)
        try put("", "a.part.resume.new")
        #expect(chmod(directory.file("a.part.resume.new").path, 0o600) == 0)
        let download = try open()
        #expect(download.partURL.lastPathComponent == "a.part")
        try download.begin(.start(nil), total: 10, origin: Sample.origin())
        try download.write("01234")
        try download.flush()
        download.close()
        #expect(try open().recovered?.offset == 5)
    }

    @Test func anotherUsersFileDoesNotCountAsComplete() throws {
        func open(_ user: String) throws -> PartialDownload {
            try PartialDownload(
                .sample,
                as: RequestIdentity(.sample, credential: Credential(user: user, password: "x")),
                to: directory.file("a"),
                replacesFile: false,
                in: machine.environment
            )
        }
        let first = try open("alice")
        try first.begin(.start(nil), total: 10, origin: Sample.origin())
        try first.write("0123456789")
        try first.flush()
        first.close()
        #expect(try text("a.part.resume").contains("alice") == false)
        let same = try open("alice")
        #expect(same.recovered?.offset == 10)
        same.close()
        let other = try open("bob")
        #expect(other.recovered?.offset == 9)
        try other.begin(.end, total: 10, origin: Sample.origin())
        try other.write("9")
        try other.flush()
        other.close()
        // That they are bob's as well is evidence, so it is looked for again.
        #expect(try open("bob").recovered?.offset == 9)
    }

    @Test func whatAProcessLeftBesideAFinishedFileIsRemoved() throws {
        try leave("0123456789")
        let (part, file) = (directory.file("a.part"), directory.file("a"))
        try FileManager.default.linkItem(at: part, to: file)
        #expect(throws: DownloadError.destinationExists(file)) { try open() }
        #expect(try names() == ["a"])
        try FileManager.default.removeItem(at: file)
        try leave("0123456789")
        try FileManager.default.moveItem(at: part, to: file)
        #expect(throws: DownloadError.destinationExists(file)) { try open() }
        #expect(try names() == ["a"])
    }

    /// Two variants that have one date.
    @Test func whatAnotherProgramWasSentIsNotContinuedWhereVarySaysSo() throws {
        func request(_ agent: String) -> URLRequest {
            var request = URLRequest.sample
            request.setValue(agent, forHTTPHeaderField: "User-Agent")
            return request
        }
        let origin = Sample.origin([
            "Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT", "Date": "Tue, 14 Nov 2023 22:13:21 GMT",
            "Vary": "User-Agent",
        ])
        let first = try open(request("one"))
        try first.begin(.start(nil), total: 10, origin: origin)
        try first.write("01234")
        try first.flush()
        first.close()
        #expect(try !text("a.part.resume").contains("one"))
        let same = try open(request("one"))
        #expect(same.recovered?.offset == 5)
        same.close()
        let other = try open(request("other"))
        #expect(other.recovered == nil && other.lost == .requestChanged)
    }

    // MARK: - How the server was verified

    private static var secure: URLRequest {
        get throws { URLRequest(url: try #require(URL(string: "https://h/a"))) }
    }

    private func leave(
        _ request: URLRequest,
        under verification: ServerVerification?,
        trusting servers: Set<String> = []
    ) throws {
        let download = try open(request, under: verification)
        try download.begin(.start(nil), total: 10, origin: Sample.origin(), trusting: servers)
        try download.write("01234")
        try download.flush()
        download.close()
    }

    @Test("P21") func bytesOfAServerThatWasNotVerifiedAreNotContinuedUnderAPolicy() throws {
        let request = try Self.secure
        try leave(request, under: .anyServer)
        let same = try open(request, under: .anyServer)
        #expect(same.count == 5)
        same.close()
        let strict = try open(request)
        #expect(strict.count == 0 && strict.lost == .verificationChanged && strict.recovered == nil)
        // Nothing is thrown away before others come.
        strict.close()
        #expect(try text("a.part") == "01234")
        let other = try open(request, under: ServerVerification(text: "pins"))
        #expect(other.lost == .verificationChanged)
    }

    /// The whole would count as verified.
    @Test("P21") func whatIsContinuedWithoutVerificationIsNotVerified() throws {
        let request = try Self.secure
        try leave(request, under: nil)
        #expect(try !text("a.part.resume").contains("verification"))
        let loose = try open(request, under: .anyServer)
        #expect(loose.count == 5)
        try loose.begin(.end, total: 10, origin: Sample.origin())
        // At once: a process that is killed now has written bytes.
        #expect(try text("a.part.resume").contains("verification"))
        try loose.write("5")
        try loose.flush()
        loose.close()
        #expect(try open(request).lost == .verificationChanged)
    }

    /// An address without TLS says by itself that nothing was verified.
    @Test("P21") func bytesThatCameWithoutTLSAreNotContinuedWithIt() throws {
        let plain = URLRequest(url: try #require(URL(string: "http://h/a")))
        try leave(plain, under: nil)
        #expect(try !text("a.part.resume").contains("verification"))
        #expect(try open(Self.secure).lost == .verificationChanged)
        let same = try open(plain)
        #expect(same.count == 5)
    }

    @Test("P21") func bytesOfATrustedServerAreContinuedIfItIsTrustedAgain() throws {
        let request = try Self.secure
        try leave(request, under: nil, trusting: ["one"])
        #expect(try open(request).lost == .verificationChanged)
        let again = try open(request, asksAboutServers: true)
        #expect(again.count == 5 && again.lost == nil)
        for servers in [[], ["two"]] as [Set<String>] {
            #expect(throws: PartialDownload.UntrustedBytesError.self) {
                try again.begin(.end, total: 10, origin: Sample.origin(), trusting: servers)
            }
        }
        // A server that says without a body that all is there does not say who sent it.
        #expect(throws: PartialDownload.UntrustedBytesError.self) { try again.finish(modified: nil) }
        try again.begin(.end, total: 10, origin: Sample.origin(), trusting: ["one", "two"])
        #expect(again.checkpoint?.trustedServers == ["one", "two"])
        try again.begin(.start(nil), total: 10, origin: Sample.origin())
        #expect(again.checkpoint?.trustedServers == nil)
    }

    @Test func whatAProcessLeftThatDiedWhileItWroteACheckpointIsRemoved() throws {
        try leave("01234")
        let half = "OperationNetworking-download \(DownloadCheckpoint.schema) half\n"
        _ = try DownloadFolder(path: directory.url.path)
            .replace("a.part.resume.new", with: Array(half.utf8), temporary: "new", isDurable: false)
        let download = try open()
        #expect(download.count == 5)
        try download.begin(.end, total: nil, origin: Sample.origin())
        try download.write("56789")
        try download.finish(modified: nil)
        #expect(try names() == ["a"])
    }

    // MARK: - Whose they are

    @Test func aFileOfAnotherProgramInThePlaceOfATemporaryCheckpointStays() throws {
        try leave("01234")
        try put("theirs", "a.part.resume.new")
        let download = try PartPair(
            .sample,
            to: directory.file("a"),
            replacesFile: false,
            in: machine.environment
        )
        #expect(download.lost == .checkpointUnproven)
        #expect(download.current.partURL.lastPathComponent == "a.1.part")
        try download.current.begin(.start(nil), total: 1, origin: Sample.origin())
        try download.current.write("x")
        try download.current.finish(modified: nil)
        #expect(try text("a.part.resume.new") == "theirs" && text("a.part") == "01234")
    }

    /// A copy, or a restored backup: the bytes may be right, and nothing shows that they are.
    @Test func aCopyOfAPartIsLeftAloneAndReported() throws {
        try leave("01234")
        for name in ["a.part", "a.part.resume"] {
            try FileManager.default.copyItem(at: directory.file(name), to: directory.file("copy"))
            try FileManager.default.removeItem(at: directory.file(name))
            try FileManager.default.moveItem(at: directory.file("copy"), to: directory.file(name))
        }
        let download = try PartPair(
            .sample,
            to: directory.file("a"),
            replacesFile: false,
            in: machine.environment
        )
        #expect(download.lost == .checkpointUnproven)
        #expect(download.current.partURL.lastPathComponent == "a.1.part")
        #expect(try text("a.part") == "01234")
    }

    private func openPair() throws -> PartPair {
        try PartPair(.sample, to: directory.file("a"), replacesFile: false, in: machine.environment)
    }

    /// What the user has renamed, or linked, is the user's.
    @Test(arguments: [false, true]) func bytesThatHaveAnotherNameAreNotDiscarded(isLinked: Bool) throws {
        let (part, rescue) = (directory.file("a.part"), directory.file("rescue"))
        let download = try open()
        try download.begin(.start(nil), total: 10, origin: Sample.origin())
        try download.write("01234")
        if isLinked {
            try FileManager.default.linkItem(at: part, to: rescue)
        } else {
            try FileManager.default.moveItem(at: part, to: rescue)
        }
        try download.discard()
        #expect(try Data(contentsOf: rescue).prefix(5) == Data("01234".utf8))
    }

    /// A mount that shows every file as writable by others: no later process could take the part for ours, and each
    /// would leave one more.
    @Test func aPartThatIsNotShownAsOursIsRemovedInTheEnd() throws {
        let part = directory.file("a.part").path
        machine.fault.value = { change in
            if case .create("a.part", _) = change { chmod(part, 0o666) }
            return nil
        }
        var pair = try openPair()
        #expect(!pair.current.isProvable)
        try pair.current.begin(.start(nil), total: 10, origin: Sample.origin())
        try pair.current.write("01234")
        try pair.current.flush()
        try pair.settle(hasRoom: true)
        #expect(try names() == [])
    }

    @Test func aPartThatIsShownAsOursIsKeptInTheEnd() throws {
        var pair = try openPair()
        #expect(pair.current.isProvable)
        try pair.current.begin(.start(nil), total: 10, origin: Sample.origin())
        try pair.current.write("01234")
        try pair.current.flush()
        try pair.settle(hasRoom: true)
        pair.close()
        #expect(try names() == ["a.part", "a.part.resume"])
    }

    /// The process that began it was killed.
    @Test(arguments: ["a.part", "a.part.resume"])
    func aPartThatIsNotShownAsOursIsLeftAloneAndReported(name: String) throws {
        try leave("01234")
        #expect(chmod(directory.file(name).path, 0o666) == 0)
        let pair = try openPair()
        #expect(pair.lost == .checkpointUnproven)
        #expect(pair.current.partURL.lastPathComponent == "a.1.part")
    }

    /// Without a checkpoint, nothing was lost.
    @Test func aFileThatOthersMayWriteAndNoDownloadBeganIsNotReported() throws {
        try put("01234", "a.part")
        #expect(chmod(directory.file("a.part").path, 0o666) == 0)
        #expect(try openPair().lost == nil)
    }

    @Test func aCheckpointOfAnotherVersionIsLeftAloneAndReported() throws {
        try leave("01234")
        let later = try text("a.part.resume")
            .replacing("download \(DownloadCheckpoint.schema) ", with: "download 99 ")
        try put(later, "a.part.resume")
        let download = try PartPair(
            .sample,
            to: directory.file("a"),
            replacesFile: false,
            in: machine.environment
        )
        #expect(download.lost == .checkpointUnreadable)
        download.close()
        #expect(try text("a.part.resume") == later)
        #expect(try names() == ["a.part", "a.part.resume"])
    }

    // MARK: - Names

    /// Leaves five of ten bytes of a download to `name`.
    private func leave(_ name: String, _ text: String, of path: String) throws -> PartialDownload {
        let request = URLRequest(url: URL(fileURLWithPath: path))
        let download = try PartialDownload(
            request,
            to: directory.file(name),
            replacesFile: false,
            in: machine.environment
        )
        try download.begin(.start(nil), total: 10, origin: Sample.origin()) { $0.name = name }
        try download.write(text)
        try download.flush()
        return download
    }

    /// `a.1.part` is a name of `a` as well as of `a.1`.
    @Test(arguments: [true, false])
    func thePartOfAnotherDestinationIsNeitherTakenNorWaitedFor(isRunning: Bool) throws {
        let other = try leave("a.1", "56789", of: "/other")
        if !isRunning { other.close() }
        try put("another program's", "a.part")
        let download = try leave("a", "01234", of: "/file")
        #expect(download.partURL.lastPathComponent == "a.2.part")
        #expect(try text("a.1.part") == "56789")
        // Nor the other way round.
        download.close()
        other.close()
        let again = try leave("a.2", "abcde", of: "/third")
        #expect(again.partURL.lastPathComponent == "a.2.1.part")
        #expect(try text("a.2.part") == "01234")
    }

    /// A user who gives a part and its checkpoint another name wants that to be continued.
    @Test func aPartThatWasGivenAnotherNameIsContinued() throws {
        try leave("b", "01234", of: "/file").close()
        for ending in [".part", ".part.resume"] {
            try FileManager.default.moveItem(
                at: directory.file("b" + ending),
                to: directory.file("a" + ending)
            )
        }
        #expect(try open(URLRequest(url: URL(fileURLWithPath: "/file"))).count == 5)
    }

    @Test func aPartOfALaterNameIsContinuedWhenTheEarlierOneIsFree() throws {
        try put("another program's", "a.part")
        try leave("01234")
        try FileManager.default.removeItem(at: directory.file("a.part"))
        let download = try open()
        #expect(download.partURL.lastPathComponent == "a.1.part")
        #expect(download.recovered?.offset == 5)
        // No other one begins beside it.
        #expect(throws: DownloadError.inUse(directory.file("a"))) { try open() }
        try download.begin(.end, total: nil, origin: Sample.origin())
        try download.write("56789")
        try download.finish(modified: nil)
        #expect(try names() == ["a"])
    }

    // MARK: - Ranges, and a name that the head decides

    /// A later process goes on behind the first of them.
    @Test func bytesBehindAGapAreWrittenAndNotTakenForTheRest() throws {
        let download = try open()
        try download.begin(.start(nil), total: 10, origin: Sample.origin())
        try download.write("01")
        try download.write(Array("67".utf8).span, at: 6)
        try download.flush()
        #expect(
            download.checkpoint?.ranges.ranges == [0..<2]
                || download.checkpoint?.ranges.ranges == [0..<2, 6..<8]
        )
        #expect(throws: DownloadError.self) { try download.finish(modified: nil) }
        try download.write(Array("2345".utf8).span, at: 2)
        #expect(download.count == 8)
        try download.write(Array("89".utf8).span, at: 8)
        try download.finish(modified: nil)
        #expect(try text("a") == "0123456789")
    }

    @Test func aLaterProcessKeepsWhatComesBeforeAGap() throws {
        let download = try open()
        try download.begin(.start(nil), total: 10, origin: Sample.origin())
        try download.write(Array("67".utf8).span, at: 6)
        try download.write(Array("01".utf8).span, at: 0)
        try download.flush()
        download.close()
        let next = try open()
        #expect(next.count == 2)
        try next.begin(.end, total: 10, origin: Sample.origin())
        try next.write("23456789")
        try next.finish(modified: nil)
        #expect(try text("a") == "0123456789")
    }

    // MARK: - Files of other programs

    private func openUnderADigest() throws -> PartPair {
        var question = DownloadRequest(.sample)
        question.knowsWhole = true
        return try PartPair(
            .sample,
            question,
            to: directory.file("a"),
            replacesFile: true,
            in: machine.environment
        )
    }

    @Test func aCopyIsOfUseOnlyUnderADigest() throws {
        try put("01234", "a")
        let first = try openUnderADigest()
        try first.current.adopt()
        first.close()
        #expect(try open(replacesFile: true).lost == .foreignCopy)
        let again = try openUnderADigest()
        #expect(again.current.count == 5 && again.lost == nil && again.current.isForeign)
        #expect(try text("a") == "01234")
    }

    @Test func aCopyThatIsNotWantedAnyMoreIsRemoved() throws {
        try put(String(repeating: "0123456789", count: 300_000), "a")
        let download = try openUnderADigest().current
        var questions = 0
        let error = #expect(throws: URLError.self) {
            try download.adopt {
                questions += 1
                return questions < 3
            }
        }
        #expect(error?.code == .cancelled && questions == 3)
        #expect(try names() == ["a"])
        // Nothing is written by those who close it.
        try download.flush()
        download.close()
        #expect(try names() == ["a"])
    }

    // MARK: - Checkpoints

    @Test func aCheckpointComesAfterFiveSecondsOrSixteenMebibytesAndNotMoreThanOnceASecond() throws {
        let download = try open()
        try download.begin(.start(nil), total: nil, origin: Sample.origin())
        let mebibytes = [UInt8](repeating: 1, count: 16 << 20)
        try download.write(mebibytes.span)
        #expect(download.committed == 0)
        machine.time.value += 1
        try download.write("1")
        #expect(download.committed == 16 << 20 + 1)
        machine.time.value += 4.9
        try download.write("2")
        #expect(download.committed == 16 << 20 + 1)
        machine.time.value += 0.1
        try download.write("3")
        #expect(download.committed == 16 << 20 + 3)
    }

    @Test func aCheckpointIsWrittenInTheOrderThatSurvivesALossOfPower() throws {
        let download = try open()
        try download.begin(.start(nil), total: 10, origin: Sample.origin())
        try download.write("01234")
        machine.changes.value = []
        try download.flush()
        let steps = machine.changes.value.map(\.step)
        #expect(
            steps == [
                "sync", "create a.part.resume.new", "write", "sync", "rename a.part.resume", "sync folder",
            ]
        )
    }

    @Test func theFileGetsItsNameInTheOrderThatSurvivesALossOfPower() throws {
        let download = try open()
        try download.begin(.start(nil), total: 1, origin: Sample.origin())
        try download.write("0")
        machine.changes.value = []
        try download.finish(modified: nil)
        #expect(
            machine.changes.value.map(\.step) == [
                "sync", "rename a", "sync folder", "remove a.part.resume",
            ]
        )
    }

    @Test func notesAreWrittenWithTheNextCheckpoint() throws {
        let download = try open()
        let named = try ["a", "b"].map { try FileDigest.of(Data($0.utf8), algorithm: .sha256) }
        try download.begin(.start(nil), total: 10, origin: Sample.origin()) { $0.namedDigest = named[0] }
        try download.write("01234")
        try download.flush()
        try download.begin(.end, total: 10, origin: Sample.origin()) { $0.namedDigest = named[1] }
        try download.flush()
        download.close()
        #expect(try open().checkpoint?.namedDigest == named[1])
    }

    @Test func whatIsThereCanBeReadWhileItIsWritten() throws {
        try leave("01234")
        let download = try open()
        let read = try download.reader()
        var bytes = [UInt8](repeating: 0, count: 3)
        var span = bytes.mutableSpan
        #expect(try read(1, &span) == 3)
        #expect(try read(5, &span) == 0)
        #expect(bytes == Array("123".utf8))
    }
}
