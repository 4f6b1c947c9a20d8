import Glibc
import OperationNetworkingSystem
import Testing

/// Two connected sockets, closed with this object.
final class SocketPair: Sendable {
    let near: Int32
    let far: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw SystemError(errno, "socketpair") }
        (near, far) = (ends[0], ends[1])
    }

    deinit {
        close(near)
        close(far)
    }

    func sendFromFar(_ text: String) {
        #expect(write(far, text, text.utf8.count) == text.utf8.count)
    }

    func receiveAtNear() {
        var buffer = [UInt8](repeating: 0, count: 64)
        _ = read(near, &buffer, buffer.count)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct SocketPollerTests {
    private struct Report: Equatable {
        var token: UInt32
        var socket: Int32
        var events: SocketPoller.Events
    }

    private func poll(_ poller: SocketPoller) -> [Report] {
        var reports: [Report] = []
        let count = poller.poll { reports.append(Report(token: $0, socket: $1, events: $2)) }
        #expect(count == reports.count)
        return reports
    }

    /// A caller that is only notified of edges would miss it.
    @Test func aSocketBehindABatchOfIdleOnesIsNotLeft() throws {
        let poller = try openPoller()
        let idle = try (0..<256).map { _ in try SocketPair() }
        let last = try SocketPair()
        for (index, sockets) in (idle + [last]).enumerated() {
            try poller.watch(sockets.near, for: .readable, token: UInt32(index))
            sockets.sendFromFar("a")
        }
        for sockets in idle { poller.forget(sockets.near) }
        var reports: [Int32] = []
        var looks = 0
        while poller.poll({ _, socket, _ in reports.append(socket) }) > 0, reports.isEmpty { looks += 1 }
        #expect(reports == [last.near])
        #expect(looks <= 1)
    }

    @Test func aQuietSocketIsNotReported() throws {
        let (poller, sockets) = (try openPoller(), try SocketPair())
        try poller.watch(sockets.near, for: .readable, token: 1)
        #expect(poll(poller) == [])
    }

    @Test func aReadySocketComesWithItsTokenUntilItIsRead() throws {
        let (poller, sockets) = (try openPoller(), try SocketPair())
        try poller.watch(sockets.near, for: .readable, token: .max)
        sockets.sendFromFar("a")
        let report = Report(token: .max, socket: sockets.near, events: .readable)
        #expect(poll(poller) == [report])
        #expect(poll(poller) == [report])
        sockets.receiveAtNear()
        #expect(poll(poller) == [])
    }

    @Test func watchingAgainChangesEventsAndToken() throws {
        let (poller, sockets) = (try openPoller(), try SocketPair())
        try poller.watch(sockets.near, for: .readable, token: 1)
        try poller.watch(sockets.near, for: [.readable, .writable], token: 2)
        #expect(poll(poller) == [Report(token: 2, socket: sockets.near, events: .writable)])
        sockets.sendFromFar("a")
        #expect(poll(poller) == [Report(token: 2, socket: sockets.near, events: [.readable, .writable])])
    }

    @Test func aForgottenSocketIsNotReported() throws {
        let (poller, sockets) = (try openPoller(), try SocketPair())
        try poller.watch(sockets.near, for: .writable, token: 1)
        poller.forget(sockets.near)
        #expect(poll(poller) == [])
        poller.forget(sockets.near)
    }

    @Test func aForgottenSocketIsReadyOnceAtMost() throws {
        let (outer, poller, sockets) = (try openPoller(), try openPoller(), try SocketPair())
        try outer.watch(poller.descriptor, for: .readable, token: 2)
        try poller.watch(sockets.near, for: .readable, token: 1)
        poller.forget(sockets.near)
        #expect(poll(outer) == [])
        sockets.sendFromFar("a")
        #expect(poll(poller) == [])
        #expect(poll(outer) == [])
        sockets.sendFromFar("b")
        #expect(poll(outer) == [])
    }

    @Test(arguments: [[], ["a"], ["a", "polled"]])
    func aForgottenSocketCanBeWatchedAgain(meanwhile: [String]) throws {
        let (poller, sockets) = (try openPoller(), try SocketPair())
        try poller.watch(sockets.near, for: .readable, token: 1)
        poller.forget(sockets.near)
        if meanwhile.contains("a") { sockets.sendFromFar("a") }
        if meanwhile.contains("polled") { #expect(poll(poller) == []) }
        try poller.watch(sockets.near, for: .readable, token: 2)
        sockets.sendFromFar("b")
        #expect(poll(poller) == [Report(token: 2, socket: sockets.near, events: .readable)])
    }

    @Test func aNumberThatWasForgottenAndClosedCanBeWatchedAgain() throws {
        let poller = try openPoller()
        var number: Int32
        do {
            let sockets = try SocketPair()
            number = fcntl(sockets.near, F_DUPFD_CLOEXEC, 100)
            try poller.watch(number, for: .readable, token: 1)
            poller.forget(number)
            close(number)
        }
        let sockets = try SocketPair()
        number = dup2(sockets.near, number)
        defer { close(number) }
        try poller.watch(number, for: .readable, token: 2)
        sockets.sendFromFar("a")
        #expect(poll(poller) == [Report(token: 2, socket: number, events: .readable)])
    }

    @Test func whatALookFoundIsHandedOverNext() throws {
        let (poller, sockets) = (try openPoller(), try SocketPair())
        try poller.watch(sockets.near, for: .readable, token: 1)
        #expect(!poller.hasMore())
        sockets.sendFromFar("a")
        #expect(poller.hasMore())
        #expect(poller.hasMore())
        #expect(poll(poller) == [Report(token: 1, socket: sockets.near, events: .readable)])
        sockets.receiveAtNear()
        #expect(!poller.hasMore())
        #expect(poll(poller) == [])
    }

    /// libcurl asks for a liveness check of a connection that its server has closed meanwhile.
    @Test func aLookFindsWhatCameForAForgottenSocketAndNothingIsHandedOver() throws {
        let (poller, sockets) = (try openPoller(), try SocketPair())
        try poller.watch(sockets.near, for: .readable, token: 1)
        poller.forget(sockets.near)
        shutdown(sockets.far, Int32(SHUT_RDWR))
        #expect(poller.hasMore())
        #expect(poll(poller) == [])
        #expect(!poller.hasMore())
    }

    /// As a caller that is only notified of edges sees it: once for each signal, and never a socket.
    @Test func aSignalMakesTheDescriptorReadyOnce() throws {
        let (outer, poller) = (try openPoller(), try openPoller())
        try outer.watch(poller.descriptor, for: .readable, token: 2)
        let wake = try #require(poller.wakeDescriptor)
        #expect(poll(poller) == [] && !poller.wasWoken)
        for _ in 0..<3 {
            wake.signal()
            wake.signal()
            #expect(poll(outer).count == 1)
            #expect(poll(poller) == [] && poller.wasWoken)
            #expect(poll(outer) == [])
            #expect(poll(poller) == [] && !poller.wasWoken)
        }
    }

    @Test func aSignalHidesNoSocket() throws {
        let (poller, sockets) = (try openPoller(), try SocketPair())
        try poller.watch(sockets.near, for: .readable, token: 1)
        sockets.sendFromFar("a")
        try #require(poller.wakeDescriptor).signal()
        #expect(poll(poller) == [Report(token: 1, socket: sockets.near, events: .readable)])
        #expect(poller.wasWoken)
    }

    /// A look uses the signal up; the next poll says so.
    @Test func aSignalThatALookFoundIsNotLost() throws {
        let poller = try openPoller()
        try #require(poller.wakeDescriptor).signal()
        #expect(poller.hasMore())
        #expect(poll(poller) == [] && poller.wasWoken)
        #expect(!poller.hasMore())
    }

    @Test func aPollerHasNoDescriptorsBeforeItIsOpen() throws {
        let poller = SocketPoller()
        #expect(poller.descriptor == -1 && poller.wakeDescriptor == nil)
    }

    @Test func aHangUpIsAFailureEvenIfItWasNotRequested() throws {
        let (poller, sockets) = (try openPoller(), try SocketPair())
        try poller.watch(sockets.near, for: [], token: 1)
        shutdown(sockets.far, Int32(SHUT_RDWR))
        #expect(poll(poller).first?.events.contains(.failed) == true)
    }

    @Test func aNumberThatWasClosedCanBeWatchedAgain() throws {
        let poller = try openPoller()
        var number: Int32
        do {
            let sockets = try SocketPair()
            number = dup(sockets.near)
            try poller.watch(number, for: .readable, token: 1)
            close(number)
        }
        let sockets = try SocketPair()
        number = dup2(sockets.near, number)
        defer { close(number) }
        try poller.watch(number, for: .writable, token: 2)
        #expect(poll(poller) == [Report(token: 2, socket: number, events: .writable)])
    }

    @Test func aClosedDescriptorIsAnError() throws {
        let poller = try openPoller()
        #expect(throws: SystemError(EBADF, "epoll_ctl")) { try poller.watch(-1, for: .readable, token: 1) }
    }

    @Test func thePollersOwnDescriptorSaysThatSomethingIsReadyAndIsCloseOnExec() throws {
        let (outer, poller, sockets) = (try openPoller(), try openPoller(), try SocketPair())
        try poller.watch(sockets.near, for: .readable, token: 1)
        try outer.watch(poller.descriptor, for: .readable, token: 2)
        #expect(poll(outer) == [])
        sockets.sendFromFar("a")
        #expect(poll(outer) == [Report(token: 2, socket: poller.descriptor, events: .readable)])
        #expect(fcntl(poller.descriptor, F_GETFD) & FD_CLOEXEC != 0)
    }
}
