import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Fields, framing, coding and version of a transfer, and the requests that cannot be sent.
@Suite struct TransferRequestTests {
    private static let file = URL(fileURLWithPath: "/file")

    // MARK: - Framing

    struct Framing: Sendable {
        var fields: [String: String]
        var body: SampleBody
        /// The `Transfer-Encoding` that is sent.
        var coding: String?
        /// The length that libcurl is given.
        var length: TransferOptions.Body
    }

    private static let framings = [
        Framing(fields: [:], body: .none, length: .none),
        Framing(fields: ["Content-Length": "5"], body: .none, length: .none),
        Framing(fields: ["Content-Length": "5"], body: .data(3), length: .length(3)),
        Framing(fields: ["CONTENT-LENGTH": "0"], body: .data(3), length: .length(3)),
        Framing(fields: ["Content-Length": "x"], body: .data(0), length: .length(0)),
        Framing(
            fields: ["content-length": "5"],
            body: .stream(length: nil, isRepeatable: true),
            length: .unknownLength
        ),
        Framing(fields: ["Transfer-Encoding": "chunked"], body: .none, length: .none),
        Framing(fields: ["Transfer-Encoding": "chunked"], body: .data(0), length: .length(0)),
        Framing(
            fields: ["Transfer-Encoding": "chunked"],
            body: .data(3),
            coding: "chunked",
            length: .length(3)
        ),
        Framing(
            fields: ["transfer-encoding": "Chunked", "Content-Length": "3"],
            body: .data(3),
            coding: "Chunked",
            length: .length(3)
        ),
        Framing(
            fields: ["Transfer-Encoding": "chunked"],
            body: .stream(length: nil, isRepeatable: false),
            coding: "chunked",
            length: .unknownLength
        ),
        Framing(fields: ["Transfer-Encoding": "gzip, chunked"], body: .none, length: .none),
    ]

    @Test(arguments: framings) func theActualBodyDecidesItsLength(framing: Framing) throws {
        var scene = try HopScene("http://example.org/", "POST", framing.fields)
        scene.body = framing.body.body
        let transfer = try scene.transfer()
        #expect(transfer.fields.values(for: "Content-Length") == [])
        #expect(transfer.fields.values(for: "Transfer-Encoding") == [framing.coding].compactMap(\.self))
        #expect(transfer.options(nil).body == framing.length)
    }

    @Test(arguments: ["gzip, chunked", "gzip", "identity", "chunked, chunked", ""])
    func aTransferCodingThatIsNotChunkedIsRefused(coding: String) throws {
        var scene = try HopScene("http://example.org/", "POST", ["Transfer-Encoding": coding])
        scene.body = .data(Data("x".utf8))
        #expect(throws: RequestSerializationError.invalidFieldValue(name: "Transfer-Encoding")) {
            try scene.transfer()
        }
    }

    // MARK: - Codings and ranges

    struct Question: Sendable {
        /// The caller's.
        var fields: [String: String] = [:]
        var asked = ResumeRequest.whole
        var continues = false
        var isToFile = false
        /// Whether a content coding is asked for, and undone.
        var acceptsCoding = false
        var sent: [String: String]
    }

    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let questions = [
        Question(acceptsCoding: true, sent: [:]),
        Question(isToFile: true, sent: ["Accept-Encoding": "identity"]),
        Question(fields: ["Accept-Encoding": "br"], sent: ["Accept-Encoding": "br"]),
        Question(fields: ["accept-encoding": "br"], isToFile: true, sent: ["accept-encoding": "br"]),
        Question(fields: ["Range": "bytes=0-1"], asked: .ownRange(nil), sent: ["Range": "bytes=0-1"]),
        Question(
            asked: .rest(from: 5, ifRange: "\"a\""),
            continues: true,
            sent: ["Accept-Encoding": "identity", "Range": "bytes=5-", "If-Range": "\"a\""]
        ),
        Question(
            asked: .rest(from: 5, ifRange: nil, overlap: 2),
            continues: true,
            sent: ["Accept-Encoding": "identity", "Range": "bytes=3-"]
        ),
        Question(
            fields: ["Accept-Encoding": "br"],
            asked: .rest(from: 5, ifRange: "\"a\""),
            continues: true,
            sent: ["Accept-Encoding": "br", "Range": "bytes=5-", "If-Range": "\"a\""]
        ),
        Question(
            asked: .overlap(from: 3, to: 5, ifUnmodifiedSince: date),
            continues: true,
            isToFile: true,
            sent: ["Accept-Encoding": "identity", "Range": "bytes=3-", "If-Unmodified-Since": date]
        ),
        Question(
            fields: ["Cache-Control": "max-age=0"],
            asked: .wholeUntransformed,
            isToFile: true,
            sent: ["Accept-Encoding": "identity", "Cache-Control": "no-transform"]
        ),
        Question(asked: .confirmation, isToFile: true, sent: ["Accept-Encoding": "identity"]),
    ]

    @Test(arguments: questions) func bytesThatAreContinuedAreNotCoded(question: Question) throws {
        var scene = try HopScene("http://example.org/", "GET", question.fields)
        if question.isToFile { scene.configuration.destination = .file(Self.file) }
        scene.asked = question.asked
        scene.continues = question.continues
        let transfer = try scene.transfer()
        #expect(transfer.fields.dictionary == question.sent)
        #expect(transfer.acceptsContentCoding == question.acceptsCoding)
        let own = question.sent.first { $0.key.lowercased() == "accept-encoding" }
        let lines = question.acceptsCoding ? 1 : own == nil ? 0 : 1
        #expect(transfer.lines("Accept-Encoding").count == lines)
    }

    /// A redirect closure may have chosen the fields of a later hop.
    @Test(arguments: [["Accept-Encoding": "br"], ["Range": "bytes=0-1"]])
    func theFieldsOfAHopSayWhichCodingIsWanted(fields: [String: String]) throws {
        var scene = try HopScene()
        #expect(try scene.transfer().acceptsContentCoding)
        for (name, value) in fields { scene.hop.setValue(value, forHTTPHeaderField: name) }
        let transfer = try scene.transfer()
        #expect(!transfer.acceptsContentCoding)
        let asked = fields["Accept-Encoding"] ?? "identity"
        #expect(transfer.lines("Accept-Encoding") == ["Accept-Encoding: \(asked)"])
    }

    @Test func aMethodIsRefusedAsItWasGiven() throws {
        let scene = try HopScene("http://example.org/", "ge t")
        #expect(throws: RequestSerializationError.invalidMethod("ge t")) { try scene.transfer() }
    }

    // MARK: - The version

    private static let versions: [HopScene.Row<TransferOptions.HTTPVersion>] = [
        .init("memory", .automatic) { _ in },
        .init("file", .http1) { $0.configuration.destination = .file(file) },
        .init("stream", .http1) { $0.configuration.destination = .stream(OutputStream.toMemory()) },
        .init("a sink of its own", .http1) {
            $0.configuration.destination = .custom { MemorySink(limit: 0) }
        },
        .init("copies of every piece", .http1) { $0.configuration.givesPieces = true },
        .init("a limit of the response's rate", .http1) {
            $0.configuration.settings.downloadLimits = [BandwidthLimit(bytesPerSecond: 1)]
        },
        .init("a limit of the request's rate", .automatic) {
            $0.configuration.settings.uploadLimits = [BandwidthLimit(bytesPerSecond: 1)]
        },
        .init("a body", .automatic) { $0.body = .data(Data("x".utf8)) },
        .init("another origin", .automatic) { $0.isAtHome = false },
    ]

    @Test(arguments: versions)
    func aTransferThatMayBeHeldTakesHTTP1(row: HopScene.Row<TransferOptions.HTTPVersion>) throws {
        #expect(try row.transfer().version == row.result)
    }

    // MARK: - Destinations

    private static let reservedNames: [(String, Bool)] = [
        ("a.part", true), ("A.PART", true), (".part", true), ("a.part.resume", true),
        ("a.Part.Resume.New", true), ("a.part. .", true), ("a.part.txt", false), ("part", false),
        ("a.parts", false), ("a.part.resume.old", false), ("a.part/b", false),
    ]

    @Test(arguments: reservedNames)
    func namesOfPartialFilesAreNoDestination(name: String, isReserved: Bool) throws {
        let url = URL(fileURLWithPath: "/d/" + name)
        var scene = try HopScene()
        scene.configuration.destination = .file(url)
        guard isReserved else { return #expect(try scene.transfer().version == .http1) }
        #expect(throws: OutputFileError.reservedName(url)) { try scene.transfer() }
    }

    @Test(arguments: [
        ("http://example.org/a", false), ("ftp://localhost/a", false), ("file://example.org/a", false),
        ("a", false), ("data:,a", false), ("file:///%FF", false), ("file:///a", true),
        ("file://localhost/a", true),
    ])
    func aDestinationIsAFileOfThisMachine(text: String, isFile: Bool) throws {
        let url = try #require(URL(string: text))
        var scene = try HopScene()
        scene.configuration.destination = .file(url)
        guard !isFile else { return #expect(try scene.transfer().version == .http1) }
        #expect(throws: OutputFileError.notAFileURL(url)) { try scene.transfer() }
    }

    // MARK: - Requests that cannot be sent

    @Test(arguments: [
        ("ftp://example.org/", URLError.Code.unsupportedURL), ("data:,a", .badURL),
        ("example.org/a", .badURL),
        ("http:///a", .badURL), ("file:///a", .badURL), ("/a", .badURL),
    ])
    func aURLHasAHostAndIsHTTP(text: String, code: URLError.Code) throws {
        let scene = try HopScene(text)
        let error = #expect(throws: URLError.self) { try scene.transfer() }
        #expect(error?.code == code)
    }

    @Test func aRequestWithoutAURLIsNotSent() throws {
        var scene = try HopScene()
        scene.hop.url = nil
        let error = #expect(throws: URLError.self) { try scene.transfer() }
        #expect(error?.code == .badURL)
    }

    @Test(arguments: ["GE T", "GET\r\nX: Y", "GET ", "G(T", "GÉT", "G\u{0}"])
    func aMethodIsAToken(method: String) throws {
        let scene = try HopScene("http://example.org/", method)
        #expect(throws: RequestSerializationError.invalidMethod(method)) { try scene.transfer() }
    }

    @Test(arguments: [("get", "GET"), ("GET", "GET"), ("PropFind", "PROPFIND"), ("M-SEARCH", "M-SEARCH")])
    func aRegisteredMethodIsSentInCapitals(method: String, sent: String) throws {
        #expect(try HopScene("http://example.org/", method).transfer().method == sent)
    }

    @Test(arguments: ["", "A B", "A:", "A\r\nB", "Ä", "A\u{0}"])
    func theNameOfAFieldIsAToken(name: String) throws {
        let scene = try HopScene("http://example.org/", "GET", [name: "x"])
        #expect(throws: RequestSerializationError.invalidFieldName(name)) { try scene.transfer() }
    }

    /// Of fields that are not sent to the server, too.
    @Test(arguments: ["X-A", "Content-Length", "Proxy-Authorization"])
    func theValueOfAFieldHasNoControlCharacters(name: String) throws {
        for value in ["a\r\nX: y", "a\n", "\u{0}", "\u{7F}", "\u{1}a"] {
            let scene = try HopScene("http://example.org/", "GET", [name: value])
            #expect(throws: RequestSerializationError.invalidFieldValue(name: name)) { try scene.transfer() }
        }
    }

    @Test(arguments: [("a\tb", "X-A: a\tb"), ("grüße", "X-A: grüße"), ("", "X-A;")])
    func otherValuesAreSentAsTheyAre(value: String, line: String) throws {
        let transfer = try HopScene("http://example.org/", "GET", ["X-A": value]).transfer()
        #expect(transfer.fields["X-A"] == value)
        #expect(transfer.options(nil).headerLines.contains(line))
    }

    // MARK: - Settings

    private static let repetitions: [(String, Set<String>?, Bool)] = [
        ("GET", nil, true), ("put", nil, true), ("POST", nil, false), ("PATCH", nil, false),
        ("POST", ["POST"], true), ("PATCH", ["POST"], false), ("DELETE", [], true),
    ]

    @Test(arguments: repetitions) func aMethodMayBeRepeatedIfItIsIdempotentOrThePolicySaysSo(
        method: String,
        methods: Set<String>?,
        mayBeSentAgain: Bool
    ) throws {
        var scene = try HopScene("http://example.org/", method)
        scene.configuration.settings.retryPolicy = methods.map { methods in
            var policy = RetryPolicy()
            policy.methods = methods
            return policy
        }
        #expect(try scene.transfer().mayBeSentAgain == mayBeSentAgain)
    }

    @Test func limitsAndTimeoutsAreTheSettingsAndTheHops() throws {
        var scene = try HopScene()
        scene.hop.timeoutInterval = 7
        let (up, down) = (BandwidthLimit(bytesPerSecond: 1), BandwidthLimit(bytesPerSecond: 2))
        let limit = ConnectionLimit(3)
        scene.configuration.maximumDecodedLength = 5
        scene.configuration.priority = .high
        scene.configuration.settings.timeouts.connect = 8
        scene.configuration.settings.uploadLimits = [up]
        scene.configuration.settings.downloadLimits = [down]
        scene.configuration.settings.connectionLimit = limit
        scene.configuration.settings.raisedConnectionLimit = 4
        let transfer = try scene.transfer()
        #expect(transfer.idleTimeout == 7)
        #expect(transfer.settings.timeouts.connect == 8)
        #expect(transfer.maximumDecodedLength == 5)
        #expect(transfer.priority == .high)
        #expect(transfer.settings.uploadLimits.map { $0 === up } == [true])
        #expect(transfer.settings.downloadLimits.map { $0 === down } == [true])
        #expect(transfer.settings.connectionLimit == limit)
        #expect(transfer.settings.raisedConnectionLimit == 4)
    }

    /// NTLM authenticates connections: each request over one counts as its opener's.
    @Test func theCredentialIsPartOfTheTrustDomain() {
        let door = Door()
        let configuration = ExchangeConfiguration(request: URLRequest(url: URL(fileURLWithPath: "/")))
        func domain(_ scheme: AuthenticationScheme, _ credential: Credential) throws -> TrustDomain {
            var hop = URLRequest(url: try #require(URL(string: "http://h/")))
            hop.httpMethod = "GET"
            return try configuration.transferRequest(
                for: hop,
                body: nil,
                asking: .whole,
                continues: false,
                authentication: Authentication.Proof(credential: credential, scheme: scheme)
            ).trustDomain
        }
        #expect(throws: Never.self) {
            let plain = try domain(.basic, door.alice)
            #expect(try domain(.digest, door.bob) == plain)
            #expect(try domain(.ntlm, door.alice) != plain)
            #expect(try domain(.ntlm, door.alice) != domain(.ntlm, door.bob))
            #expect(try domain(.negotiate, .systemTickets) != plain)
        }
    }
}
