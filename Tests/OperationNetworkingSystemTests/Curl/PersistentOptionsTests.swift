import Foundation
import Testing

@testable import OperationNetworkingSystem

@Suite(.timeLimit(.minutes(1)))
struct PersistentOptionsTests {
    private static func options(_ change: (inout TransferOptions) -> Void = { _ in }) -> TransferOptions {
        var options = TransferOptions(url: "http://a.test/", method: "GET")
        change(&options)
        return options
    }

    private static func tls(_ change: (inout TLSOptions) -> Void = { _ in }) -> TransferOptions {
        options {
            var tls = TLSOptions()
            change(&tls)
            $0.tls = tls
        }
    }

    private final class Everyone: ServerJudge {
        func accepts(_ certificates: [Data], chain: ChainResult) -> Bool { true }
    }

    // MARK: - Options

    /// A handle does not keep these, or they are set anew.
    @Test(arguments: [
        options { $0.url = "http://b.test/?q" },
        options { $0.headerLines = ["Authorization: secret"] },
        options { $0.connectTimeout = 1 },
    ])
    func whatIsSetEachTimeMayDiffer(_ next: TransferOptions) throws {
        let persistent = try #require(PersistentOptions(Self.options()))
        #expect(persistent.serve(next))
        #expect(try #require(PersistentOptions(next)).serve(Self.options()))
    }

    @Test(arguments: [
        options { $0.method = "HEAD" },
        options { $0.method = "DELETE" },
        options { $0.method = "get" },
        options { $0.body = .length(0) },
        options { $0.body = .unknownLength },
        options { $0.proxy = .init(url: "http://proxy.test:1") },
        options { $0.authentication = CurlAuthentication(scheme: .basic, user: "u", password: "p") },
        tls { $0.authorities = .certificates(Data()) },
    ])
    func whatSaysMoreThanThatIsForOneTransfer(_ options: TransferOptions) throws {
        #expect(PersistentOptions(options) == nil)
        #expect(!(try #require(PersistentOptions(Self.options())).serve(options)))
        #expect(!(try #require(PersistentOptions(Self.tls())).serve(options)))
    }

    /// Any two of these differ in something that stays.
    private static let kinds: [TransferOptions] = [
        options(),
        options { $0.version = .http1 },
        options { $0.version = .http2 },
        options { $0.version = .http2PriorKnowledge },
        options { $0.cookieLines = [] },
        tls(),
        tls { $0.authorities = .places(file: "a", directory: nil) },
        tls { $0.authorities = .places(file: "b", directory: nil) },
        tls { $0.authorities = .places(file: nil, directory: "a") },
        tls { $0.versions = 3...3 },
        tls { $0.checksHost = false },
        tls { $0.resumesSessions = false },
        tls { $0.judge = Everyone() },
    ]

    @Test(arguments: kinds.indices)
    func whatStaysIsTheSame(_ index: Int) throws {
        let persistent = try #require(PersistentOptions(Self.kinds[index]))
        #expect(Self.kinds.indices.filter { persistent.serve(Self.kinds[$0]) } == [index])
    }

    @Test func anotherVerifierIsSetAgain() throws {
        let persistent = try #require(PersistentOptions(Self.tls { $0.judge = Everyone() }))
        #expect(persistent.serve(Self.tls { $0.judge = Everyone() }))
    }

    @Test(arguments: [
        ("Host: a", true), ("HOST:a", true), ("host;", true), ("Host:", true),
        ("Hosts: a", false), ("Hos: a", false), ("X-Host: a", false), ("Accept: Host: a", false),
    ])
    func theCallersHostIsSeen(_ line: String, _ namesHost: Bool) throws {
        #expect(try HeaderList([line]).namesHost == namesHost)
        #expect(try HeaderList(["Accept: a", line, "B: c"]).namesHost == namesHost)
    }

    // MARK: - What a transfer leaves

    private static let plain = HandleTrace(requestCount: 1)

    @Test(arguments: [
        (200, true), (204, true), (206, true), (301, true), (304, true), (399, true),
        (0, false), (199, false), (400, false), (401, false), (407, false), (417, false), (503, false),
    ])
    func aPlainSuccessLeavesNoState(_ status: Int, _ leavesNothing: Bool) {
        #expect(
            Self.plain.leavesNothing(connectionCount: 0, systemError: 0, status: status, isHTTP1: true)
                == leavesNothing
        )
    }

    @Test func aNewConnectionOrVersionMayLeaveState() {
        #expect(!Self.plain.leavesNothing(connectionCount: 1, systemError: 0, status: 200, isHTTP1: true))
        #expect(!Self.plain.leavesNothing(connectionCount: 0, systemError: 0, status: 200, isHTTP1: false))
    }

    @Test func anErrorOfTheSystemStays() {
        #expect(!Self.plain.leavesNothing(connectionCount: 0, systemError: 32, status: 200, isHTTP1: true))
    }

    @Test func libcurlReportsThePreviousTransferUntilThisOneMoves() {
        #expect(HandleTrace().hasBegun)
        #expect(!HandleTrace(isFirst: false).hasBegun)
        #expect(HandleTrace(isFirst: false, hasMoved: true).hasBegun)
    }

    @Test(arguments: [
        HandleTrace(requestCount: 0),
        HandleTrace(requestCount: 2),
        HandleTrace(requestCount: 1, namesHost: true),
        HandleTrace(requestCount: 1, wasHeld: true),
        HandleTrace(requestCount: 1, reportsProgress: true),
        HandleTrace(requestCount: 1, receivedCookies: 1),
    ])
    func aHandleWithLeftoverStateIsNotReused(_ trace: HandleTrace) {
        #expect(!trace.leavesNothing(connectionCount: 0, systemError: 0, status: 200, isHTTP1: true))
    }
}
