import Foundation
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The programs in `Examples/` against a scripted server: what they print, and what it sees of them.
@Suite(.enabled(if: ExampleProgram.areBuilt, "the examples were not built"))
struct ExamplesTests {
    // MARK: - Start

    @Test func startFetchesTheListAndThenItsFiles() async throws {
        let origin = "http://127.0.0.1:8080/"
        let server = try ScriptedServer { request in
            guard request.target.hasSuffix(".jpg") else {
                let list = #"[{"id": 7, "url": "\#(origin)a.jpg"}, {"id": 8, "url": "\#(origin)b.jpg"}]"#
                return .respond(200, ["Content-Type": "application/json"], body: .text(list))
            }
            return .respond(body: .text(request.target))
        }
        let directory = try TemporaryDirectory()
        // The addresses are fixed in the example: the server takes them as a proxy would.
        let result = try await ExampleProgram("Start").run(proxy: server.url, in: directory.url)
        #expect(result.status == 0, "\(result)")
        #expect(result.lines.count == 3 && result.lines.first == "2 photos", "\(result)")
        #expect(result.lines.dropFirst().allSatisfy { $0.hasPrefix("success(") }, "\(result)")
        #expect(try String(contentsOf: directory.file("7.jpg"), encoding: .utf8) == "\(origin)a.jpg")
        #expect(try String(contentsOf: directory.file("8.jpg"), encoding: .utf8) == "\(origin)b.jpg")
        #expect(server.requests.first?.target == "\(origin)api/photos?page=2")
        // The pause may have come after a request.
        #expect(Set(server.requests.map(\.target)).count == 3)
    }

    // MARK: - Request

    @Test func requestPrintsProgressLengthAndObject() async throws {
        let server = try ScriptedServer([
            .respond(200, ["Content-Type": "application/json"], body: #"{"name": "Ada"}"#)
        ])
        let result = try await ExampleProgram("Request").run(server.url(path: "user.json").absoluteString)
        #expect(result.status == 0, "\(result)")
        #expect(result.lines.first?.contains("Ada") == true)
        #expect(result.lines.dropFirst().first?.hasSuffix("15 15") == true)
        #expect(result.lines.last?.hasPrefix("15 ") == true)
        #expect(result.lines.last?.contains("Ada") == true)
        #expect(server.requests.map(\.target) == ["/user.json", "/user.json"])
    }

    @Test func requestFailsWithASentence() async throws {
        let server = try ScriptedServer([.respond(404, ["Content-Type": "application/json"], body: "{}")])
        let result = try await ExampleProgram("Request").run(server.url.absoluteString)
        #expect(result.status == 1)
        #expect(result.errors.contains("404"), "\(result)")
        #expect(server.requests.count == 1)
    }

    // MARK: - Porting

    @Test(arguments: ["Porting", "PortingNonisolated"])
    func aPageOfTheMainActorReceivesEveryCallback(program: String) async throws {
        let server = try ScriptedServer { request in
            .respond(200, ["Content-Type": "application/json"], body: .text("[\"\(request.method)\"]"))
        }
        let directory = try TemporaryDirectory()
        let api = server.url(path: "api/").absoluteString
        let result = try await ExampleProgram(program).run(api, directory.url.path)
        #expect(result.status == 0, "\(result)")
        #expect(result.lines.first == "big.iso")
        #expect(try String(contentsOf: directory.file("big.iso"), encoding: .utf8) == "[\"GET\"]")
        #expect(result.output.contains("bytes"), "\(result)")
        #expect(result.lines.contains("Basic QWRhOnNlY3JldA== none"), "\(result)")
        #expect(server.requests.count == 10)
        #expect(server.requests.allSatisfy { $0["Authorization"] == "Bearer secret" })
    }

    // MARK: - Migration

    @Test func theMigratedClientDoesWhatTheOldOneDid() async throws {
        let big = Representation(.generated(length: 200_000), entityTag: .strong("v1"))
        let server = try ScriptedServer { request in
            let json: FieldLines = ["Content-Type": "application/json"]
            switch request.path.split(separator: "/").last {
            case "token": return .respond(200, json, body: #"{"token": "new"}"#)
            case "big.iso":
                let answer = Answer.representation(big)
                return request["Range"] == nil ? answer.stalling(after: 60_000) : answer
            case "1.jpg", "2.jpg": return .respond(body: "thumb")
            case "missing.jpg": return .respond(404)
            case _ where request["Authorization"] != "Bearer new": return .respond(401)
            case "refused":
                return .respond(200, json, body: #"{"status": "no", "message": "Not today."}"#)
            case "photos": return .respond(200, json, body: #"{"status": "ok", "data": {"id": 7}}"#)
            default: return .respond(200, json, body: #"{"status": "ok", "data": ["Ada", "Grace"]}"#)
            }
        }
        let directory = try TemporaryDirectory()
        let (photo, file) = (directory.file("photo.png"), directory.file("big.iso"))
        try Data("not really".utf8).write(to: photo)
        let api = server.url(path: "api/").absoluteString
        let result = try await ExampleProgram("Migration").run(api, photo.path, file.path)
        #expect(result.status == 0, "\(result)")
        let lines = result.lines.filter { !$0.hasPrefix("sent: ") }
        #expect(
            lines == [
                "users: 2", "photo: 7", "file: 200000", "1 of 3", "2 of 3", "3 of 3",
                "thumbnails: 5, 5, none", "refused: Not today.", "running: 0",
            ]
        )
        #expect(result.lines.contains { $0.hasPrefix("sent: ") }, "\(result)")
        #expect(try PatternBody(length: 200_000).firstDifference(fromFile: file) == nil)
        let requests = server.requests
        #expect(requests.prefix(3).map { $0["Authorization"] } == ["Bearer old", nil, "Bearer new"])
        #expect(requests.filter { $0.path.hasSuffix("token") }.count == 1)
        #expect(requests.contains { $0["Range"] != nil && $0["If-Range"] == "\"v1\"" })
    }

    // MARK: - Batch

    @Test func batchCountsToTheLastAndSaysThatAllAreDone() async throws {
        let server = try ScriptedServer { request in
            .respond(body: .generated(length: request.path.count * 100))
        }
        let urls = ["a", "bb", "ccc"].map { server.url(path: $0).absoluteString }
        let result = try await ExampleProgram("Batch").run(urls[0], urls[1], urls[2])
        #expect(result.status == 0, "\(result)")
        #expect(
            result.lines == [
                "a: 200 bytes", "bb: 300 bytes", "ccc: 400 bytes", "1 of 3", "2 of 3", "3 of 3", "all 3",
            ]
        )
        #expect(Set(server.requests.map(\.target)) == ["/a", "/bb", "/ccc"])
    }

    @Test func batchNamesTheMemberThatFailed() async throws {
        let server = try ScriptedServer { request in request.path == "/bad" ? .hangUp : .respond(body: "good")
        }
        let urls = ["good", "bad"].map { server.url(path: $0).absoluteString }
        let result = try await ExampleProgram("Batch").run(urls[0], urls[1])
        #expect(result.status == 1)
        #expect(result.lines.contains("all 2") && result.lines.contains("good: 4 bytes"), "\(result)")
        #expect(result.errors.hasPrefix("bad: "), "\(result)")
    }

    @Test func batchAsObjectPrintsTheResultsInTheOrderOfItsMembers() async throws {
        let server = try ScriptedServer { request in
            .respond(body: .generated(length: request.path.count * 100))
        }
        let urls = ["a", "bb"].map { server.url(path: $0).absoluteString }
        let result = try await ExampleProgram("BatchAsObject").run(urls[0], urls[1])
        #expect(result.status == 0, "\(result)")
        let results = result.lines.filter { $0.hasPrefix("success(") }
        #expect(results.count == 2 && zip(results, urls).allSatisfy { $0.contains($1) }, "\(result)")
    }

    @Test func batchAsObjectStopsAtTheFirstFailure() async throws {
        let server = try ScriptedServer { request in
            request.path == "/bad" ? .hangUp : .respond(body: .generated(length: 100)).stalling(after: 10)
        }
        let urls = ["bad", "good"].map { server.url(path: $0).absoluteString }
        let result = try await ExampleProgram("BatchAsObject").run(urls[0], urls[1])
        #expect(result.status == 1)
        #expect(result.lines.filter { $0.hasPrefix("failure(") }.count == 2, "\(result)")
    }

    // MARK: - Download

    @Test func aDownloadContinuesAfterItBroke() async throws {
        let body = PatternBody(length: 200_000)
        let server = try ScriptedServer { request in
            let answer = Answer.representation(Representation(.pattern(body), entityTag: .strong("v1")))
            return request.number == 0 ? answer.breaking(after: 60_000) : answer
        }
        let directory = try TemporaryDirectory()
        let digest = try FileDigest.of(body.data, algorithm: .sha256).description
        let arguments = (server.url.absoluteString, directory.file("big.iso").path)
        let result = try await ExampleProgram("Download").run(arguments.0, arguments.1, digest)
        #expect(result.status == 0, "\(result)")
        #expect(result.lines == ["digest(\(digest)) 0", "big.iso"])
        #expect(server.requests.last?["Range"] == "bytes=60000-")
        let again = try await ExampleProgram("Download").run(arguments.0, arguments.1, digest)
        #expect(again.status == 1 && again.errors.contains("exists"), "\(again)")
    }

    // MARK: - PauseAndResume

    @Test func aPausedDownloadRequestsTheRest() async throws {
        let representation = Representation(.generated(length: 200_000), entityTag: .strong("v1"))
        let server = try ScriptedServer { request in
            let answer = Answer.representation(representation)
            return request["Range"] == nil ? answer.stalling(after: 60_000) : answer
        }
        let directory = try TemporaryDirectory()
        let path = directory.file().path
        let result = try await ExampleProgram("PauseAndResume").run(server.url.absoluteString, path)
        #expect(result.status == 0, "\(result)")
        #expect(result.lines.suffix(2).first == "file: 206", "\(result)")
        #expect(try PatternBody(length: 200_000).firstDifference(fromFile: directory.file()) == nil)
        let last = try #require(server.requests.last)
        #expect(last["If-Range"] == "\"v1\"")
        #expect(last["Range"]?.hasPrefix("bytes=") == true)
    }

    @Test func aDownloadThatChangedWhilePausedIsNotMixed() async throws {
        let (old, new) = (PatternBody(seed: 1, length: 200_000), PatternBody(seed: 2, length: 200_000))
        let server = try ScriptedServer { request in
            guard request["Range"] != nil else {
                return .representation(Representation(.pattern(old), entityTag: .strong("v1")))
                    .stalling(after: 60_000)
            }
            return .representation(Representation(.pattern(new), entityTag: .strong("v2")))
        }
        let directory = try TemporaryDirectory()
        let path = directory.file().path
        let result = try await ExampleProgram("PauseAndResume").run(server.url.absoluteString, path)
        // The file is emptied, and gets the new version as a whole.
        #expect(result.status == 0, "\(result)")
        #expect(result.lines.suffix(2) == ["file: 200", "not fetched twice: 0 bytes"], "\(result)")
        #expect(try new.firstDifference(fromFile: directory.file()) == nil)
        #expect(server.requests.last?["If-Range"] == "\"v1\"")
    }

    // MARK: - Retry

    @Test func retryRepeatsTheRequestUntilItSucceeds() async throws {
        let server = try ScriptedServer([.respond(503), .hangUp, .respond(body: "done")])
        let result = try await ExampleProgram("Retry").run(server.url.absoluteString)
        #expect(result.status == 0, "\(result)")
        // libcurl itself may have asked again when the kept connection was closed.
        #expect(result.lines.last?.hasPrefix("4 bytes, asked ") == true)
        #expect(server.requests.count == 3)
    }

    @Test func retryFailsWithASentenceAfterAPermanentError() async throws {
        let server = try ScriptedServer([.respond(404)])
        let result = try await ExampleProgram("Retry").run(server.url.absoluteString)
        #expect(result.status == 1)
        #expect(result.errors.contains("404"), "\(result)")
        #expect(server.requests.count == 1)
    }

    // MARK: - Manager

    @Test func managerAsksTwiceAndPrintsTheUsers() async throws {
        let server = try ScriptedServer([
            .respond(200, ["Content-Type": "application/json"], body: #"[{"name": "Ada"}]"#)
        ])
        // The address is fixed in the example: the server takes it as a proxy would.
        let result = try await ExampleProgram("Manager").run(proxy: server.url)
        #expect(result.status == 0, "\(result)")
        #expect(result.output.contains("Ada"))
        let target = "http://127.0.0.1:8080/api/users?page=2"
        #expect(server.requests.map(\.target) == [target, target])
    }

    @Test func managerFailsWithASentenceWithoutAServer() async throws {
        let server = try ScriptedServer([.hangUp])
        let result = try await ExampleProgram("Manager").run(proxy: server.url)
        #expect(result.status == 1)
        #expect(result.errors.hasPrefix("The users cannot be had: "), "\(result)")
        server.stop()
    }

    @Test func encodableSendsAValueAndPrintsTheOneThatCame() async throws {
        let server = try ScriptedServer([
            .respond(200, ["Content-Type": "application/json"], body: #"{"id": 7, "name": "Ada"}"#)
        ])
        let result = try await ExampleProgram("Encodable").run(server.url.absoluteString, "Ada")
        #expect(result.status == 0, "\(result)")
        #expect(result.lines == ["7: Ada"])
        #expect(server.requests.first?.target == "/users")
        #expect(server.requests.first?.text.hasSuffix("name=Ada") == true)
    }

    // MARK: - Trust

    @Test func trustFailsWithASentenceWithoutCertificatesToPin() async throws {
        let directory = try TemporaryDirectory()
        let server = try ScriptedServer([])
        let result = try await ExampleProgram("Trust").run(
            server.url.absoluteString,
            directory.url.path,
            "/nothing",
            "a",
            "b",
            "c"
        )
        #expect(result.status == 1)
        #expect(result.errors.hasPrefix("\(server.url.absoluteString): "), "\(result)")
        #expect(server.requests.isEmpty)
    }

    // MARK: - Upload

    @Test func uploadSendsTheFileInAForm() async throws {
        let server = try ScriptedServer([
            .respond(200, ["Content-Type": "application/json"], body: #"{"id": 7}"#)
        ])
        let directory = try TemporaryDirectory()
        let photo = directory.file("photo.png")
        try Data("not really".utf8).write(to: photo)
        let result = try await ExampleProgram("Upload").run(server.url.absoluteString, photo.path)
        #expect(result.status == 0, "\(result)")
        #expect(result.output.contains("7"))
        let request = try #require(server.requests.first)
        #expect(request["Content-Type"]?.hasPrefix("multipart/form-data; boundary=") == true)
        #expect(request.text.contains("name=\"title\"\r\n\r\nSummer\r\n"))
        #expect(
            request.text.contains("filename=\"photo.png\"\r\nContent-Type: image/png\r\n\r\nnot really\r\n")
        )
        #expect(request.text.contains("name=\"year\"\r\n\r\n2026\r\n"))
    }

    @Test func uploadFailsWithASentenceWithoutAFile() async throws {
        let server = try ScriptedServer([])
        let result = try await ExampleProgram("Upload").run(server.url.absoluteString, "/nothing")
        #expect(result.status == 1)
        #expect(
            result.errors.hasPrefix("/nothing was not sent: /nothing cannot be read: No such file"),
            "\(result)"
        )
        #expect(server.requests.isEmpty)
    }

    // MARK: - Downloads

    @Test func downloadsSavesTheFilesAndContinuesWhereItWas() async throws {
        let isThere = Gate()
        let server = try ScriptedServer { request in
            request.path == "/late" && !isThere.isOpen ? .respond(404) : .respond(body: .text(request.path))
        }
        let directory = try TemporaryDirectory()
        let path = directory.url.path
        let urls = ["early", "late"].map { server.url(path: $0).absoluteString }
        let first = try await ExampleProgram("Downloads").run(path, urls[0], urls[1])
        #expect(first.status == 1, "\(first)")
        #expect(first.lines == ["early: 6 bytes, 0 of them from before"])
        #expect(first.errors.hasPrefix("late: ") && first.errors.contains("404"), "\(first)")
        isThere.open()
        let second = try await ExampleProgram("Downloads").run(path)
        #expect(second.status == 0, "\(second)")
        #expect(
            second.lines == [
                "early: 6 bytes, 6 of them from before", "late: 5 bytes, 0 of them from before",
            ]
        )
        #expect(server.requests.map(\.target).sorted() == ["/early", "/late", "/late"])
    }

    @Test func downloadsFailsWithASentenceWithoutAJournal() async throws {
        let directory = try TemporaryDirectory()
        let result = try await ExampleProgram("Downloads").run(directory.url.path)
        #expect(result.status == 1)
        #expect(result.errors.hasPrefix("The downloads cannot begin: "), "\(result)")
    }

    // MARK: - Reachability

    @Test(.enabled(if: NetworkNamespace.isPermitted, "This process may not make network namespaces."))
    func reachabilityHoldsARequestUntilThereIsANetwork() async throws {
        let directory = try TemporaryDirectory()
        try Data("hello".utf8).write(to: directory.file("a.txt"))
        let network = try NetworkNamespace()
        try await network.run(
            "ip link set lo up; ip link add eth7 type veth peer name far; ip link set far up"
        )
        // The example asks again until this one listens.
        let python = RealServers.python?.path ?? "python3"
        let server = "-m http.server 8099 --bind 127.0.0.1 --directory '\(directory.url.path)'"
        try await network.run("'\(python)' \(server) >/dev/null 2>&1 &")
        let program = try #require(builtProgram("Reachability"))
        // Without the proxies of this machine.
        try await network.start(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["-i", "stdbuf", "-oL", program.path, "http://127.0.0.1:8099/a.txt"]
        )
        #expect(try await network.next("Not") == "Reachable: suspended")
        #expect(network.rest("5").isEmpty)
        try await network.run("ip link set eth7 up; ip addr add 10.1.1.2/24 dev eth7")
        try await network.run("ip route add default via 10.1.1.1")
        #expect(try await network.next("Reachable") == "via WiFi: running")
        #expect(try await network.next("5") == "bytes")
        try await network.run("ip link set far down")
        #expect(try await network.next("Not") == "Reachable: suspended")
    }

    // MARK: - Archives

    @Test func archiveSendsInALaterProcessWhatWasKept() async throws {
        let server = try ScriptedServer([
            .respond(200, ["Content-Type": "application/json"], body: "[1, 2]")
        ])
        let directory = try TemporaryDirectory()
        let file = directory.file("queue.json").path
        let first = try await ExampleProgram("Archive").run(file, server.url.absoluteString)
        #expect(first.status == 0 && first.lines.isEmpty && server.requests.isEmpty, "\(first)")
        let second = try await ExampleProgram("Archive").run(file)
        #expect(second.status == 0 && second.lines == ["[1, 2]"], "\(second)")
        #expect(server.requests.count == 1)
    }

    // MARK: - Cache

    @Test func cacheSaysWhereAResponseCameFrom() async throws {
        let fields: FieldLines = ["Cache-Control": "max-age=60", "Content-Type": "application/json"]
        let server = try ScriptedServer([.respond(200, fields, body: "{}")])
        let directory = try TemporaryDirectory()
        let result = try await ExampleProgram("Cache").run(
            server.url.absoluteString,
            directory.file("c").path
        )
        #expect(result.lines == ["network", "cache"], "\(result)")
        #expect(server.requests.count == 1)
    }

    // MARK: - Activity

    @Test func activityPrintsTheProgress() async throws {
        let server = try ScriptedServer([.respond(body: "hello")])
        let result = try await ExampleProgram("Activity").run(server.url.absoluteString)
        #expect(result.status == 0, "\(result)")
        // A moment's work shows no indicator, unless the machine is busy.
        #expect(result.lines.filter { !["busy", "running", "quiet", "idle"].contains($0) } == ["5 of 5"])
    }

    @Test func activityShowsWhatTakesLonger() async throws {
        let gate = Gate()
        let server = try ScriptedServer([.respond(body: "hello").held(by: gate)])
        async let result = ExampleProgram("Activity").run(server.url.absoluteString)
        try await gate.waitForArrivals()
        DispatchQueue.global().asyncAfter(deadline: .now() + 4) { gate.open() }
        let ended = try await result
        #expect(ended.lines.contains("busy") && ended.lines.contains("running"), "\(ended)")
        #expect(ended.lines.contains("5 of 5"), "\(ended)")
    }

    // MARK: - Session

    @Test func aSessionContinuesWithResumeDataInAnotherProcess() async throws {
        let body = PatternBody(length: 200_000)
        let server = try ScriptedServer { request in
            guard request.path == "/big.iso" else {
                return .respond(200, ["Content-Type": "application/json"], body: #"["Ada"]"#)
            }
            let answer = Answer.representation(Representation(.pattern(body), entityTag: .strong("v1")))
            return request["Range"] == nil ? answer.stalling(after: 60_000) : answer
        }
        let directory = try TemporaryDirectory()
        let path = directory.file("big.iso").path
        let first = try await ExampleProgram("Session").run(server.url.absoluteString, path)
        #expect(first.status == 0 && first.lines.last == "kept: true", "\(first)")
        let second = try await ExampleProgram("Session").run(server.url.absoluteString, path)
        #expect(second.status == 0 && second.lines.last == "206: big.iso", "\(second)")
        #expect(try body.firstDifference(fromFile: directory.file("big.iso")) == nil)
        let files = server.requests.filter { $0.path == "/big.iso" }
        #expect(files.map { $0["Range"] } == [nil, "bytes=60000-"])
    }

    // MARK: - Usage

    @Test(arguments: [
        "Request", "Batch", "BatchAsObject", "PauseAndResume", "Encodable", "Retry", "Session", "Upload",
        "Downloads", "Trust", "Images", "Reachability", "Activity", "Cache", "Archive", "Pieces",
        "Porting", "Migration",
    ])
    func withoutArgumentsSaysHowItIsUsed(name: String) async throws {
        let result = try await ExampleProgram(name).run()
        #expect(result.status == 64)
        #expect(result.errors.hasPrefix("usage: \(name) "))
    }

    // MARK: - Pieces

    @Test func piecesCountsLines() async throws {
        let server = try ScriptedServer { $0.path == "/log" ? .respond(body: "a\nb\nc\n") : .respond(404) }
        let result = try await ExampleProgram("Pieces").run(server.url(path: "log").absoluteString)
        #expect(result.status == 0 && result.lines.contains("3 lines"), "\(result)")
        let missing = try await ExampleProgram("Pieces").run(server.url(path: "none").absoluteString)
        #expect(missing.status == 1 && missing.errors.contains("404"), "\(missing)")
    }

    // MARK: - Images

    @Test func imagesPrintsTheSizeOfAThumbnail() async throws {
        // Of run lengths, without a pixel: 512 x 256 from little.
        var bitmap: [UInt8] =
            Array("BM".utf8) + [
                0x40, 4, 0, 0, 0, 0, 0, 0, 0x36, 4, 0, 0, 40, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0,
            ]
        bitmap += [1, 0, 8, 0, 1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        bitmap += [UInt8](repeating: 0x40, count: 1_024) + [1, 0, 0, 1]
        let server = try ScriptedServer([
            .respond(200, ["Content-Type": "image/bmp"], body: .data(Data(bitmap)))
        ])
        let result = try await ExampleProgram("Images").run(server.url.absoluteString)
        #expect(result.status == 0, "\(result)")
        #expect(result.lines == ["bmp 256 x 128, 131072 bytes"])
        #expect(server.requests.first?["Accept"] == "image/*")
    }
}
