import Foundation
import Glibc
import OperationNetworkingImagesSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingImages

@Suite(.timeLimit(.minutes(1))) struct MemoryPressureTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// A pipe with a name, which stands for a file of the kernel: what is written to it is an event.
    private func pipe(_ name: String) throws -> (path: String, handle: FileHandle) {
        let url = directory.url.appendingPathComponent(name)
        try #require(mkfifo(url.path, 0o600) == 0)
        let descriptor = open(url.path, O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
        return (url.path, FileHandle(fileDescriptor: descriptor, closeOnDealloc: true))
    }

    // MARK: - Which files, and what they say

    @Test(
        arguments: [
            ("0::/\n", ["/sys/fs/cgroup/", "/sys/fs/cgroup/unified/"]),
            (
                "12:memory:/a\n0::/user.slice/x.scope\n",
                [
                    "/sys/fs/cgroup/user.slice/x.scope/", "/sys/fs/cgroup/unified/user.slice/x.scope/",
                ]
            ),
            ("4:memory:/docker/1\n", []), ("0::/../../etc\n", []), ("", []),
        ] as [(String, [String])]
    )
    func theGroupsOwnFileComesFirst(text: String, folders: [String]) {
        let source = MemoryPressureSource(controlGroups: text)
        #expect(source.pressure == folders.map { $0 + "memory.pressure" } + ["/proc/pressure/memory"])
        #expect(source.events == folders.map { $0 + "memory.events" })
    }

    @Test(
        arguments: [
            ("low 5\nhigh 1\nmax 2\noom 3\noom_kill 4\noom_group_kill 9\n", 8), ("low 7\n", 0), ("", 0),
            ("high x\nmax\nmax 3 4\nhigh 18446744073709551616\n", 0),
        ] as [(String, UInt64)]
    )
    func countsWhatMeansPressure(text: String, count: UInt64) {
        #expect(MemoryEvents(text).count == count)
    }

    @Test(
        "A trigger with an error is removed; a counter with one has changed",
        arguments: [
            (0, 0, 0, []), (POLLPRI, 0, 0, [.pressure]), (POLLPRI | POLLERR, 0, 0, [.gone]),
            (POLLERR, 0, 0, [.gone]), (POLLNVAL, 0, 0, [.gone]), (0, POLLPRI, 0, [.events]),
            (0, POLLPRI | POLLERR, 0, [.events]), (0, POLLERR, 0, [.gone]), (0, POLLHUP, 0, [.gone]),
            (0, 0, POLLIN, [.bell]), (POLLPRI, POLLPRI | POLLERR, POLLIN, [.pressure, .events, .bell]),
            (POLLPRI | POLLERR, POLLPRI | POLLERR, 0, [.gone, .events]),
        ] as [(Int32, Int32, Int32, Set<PressureFiles.WakeReason>)]
    )
    func resultsOfPollAreNews(
        pressure: Int32,
        events: Int32,
        bell: Int32,
        expected: Set<PressureFiles.WakeReason>
    ) {
        let reasons = PressureFiles.reasons(
            pressure: Int16(pressure),
            events: Int16(events),
            bell: Int16(bell),
            kind: Int16(POLLPRI)
        )
        #expect(reasons == expected)
    }

    // MARK: - Events

    /// An ordinary file can be read all the time, as a file of a control group that is gone is ready all the
    /// time.
    @Test func aFileThatIsAlwaysReadyIsReportedOnceASecond() async throws {
        let file = directory.url.appendingPathComponent("memory.pressure")
        try Data().write(to: file)
        let pressure = MemoryPressure(MemoryPressureSource(pressure: [file.path], isOrdinary: true))
        let reports = Recorder<ContinuousClock.Instant>()
        let observation = pressure.observe { reports.append(.now) }
        let times = try await reports.wait(count: 3)
        // The observer is called on the thread that makes the pauses, and each pause begins when it has returned: a busy
        // machine makes the time longer, and never shorter. The tolerance is for different clocks.
        #expect(times[2] - times[0] > .milliseconds(1_900))
        withExtendedLifetime(observation) {}
    }

    /// A directory can be polled, and not read; as `memory.events` of a control group that is gone.
    @Test func unreadableCountersAreRemoved() async {
        let pressure = MemoryPressure(
            MemoryPressureSource(pressure: [], events: [directory.url.path], isOrdinary: true)
        )
        let observation = pressure.observe {}
        await expectGone(pressure)
        withExtendedLifetime(observation) {}
    }

    @Test(
        "A removed control group is forgotten and reports nothing",
        .enabled(if: ControlGroup.isPermitted, "This process may not make control groups."),
        arguments: [false, true]
    )
    func aRemovedControlGroupIsForgotten(hasEvents: Bool) async throws {
        try await expectForgotten(hasPressure: true, hasEvents: hasEvents)
    }

    @Test(
        "A removed control group of which only the counters are read is forgotten and reports nothing",
        .enabled(if: ControlGroup.isPermitted, "This process may not make control groups."),
        .enabled(if: ControlGroup.countsEvents == true, "Version 2 has no counters of the memory.")
    )
    func aRemovedControlGroupWithCountersOnlyIsForgotten() async throws {
        try await expectForgotten(hasPressure: false, hasEvents: true)
    }

    private func expectForgotten(hasPressure: Bool, hasEvents: Bool) async throws {
        let group = try ControlGroup(memory: 48 << 20)
        let pressure = MemoryPressure(
            MemoryPressureSource(
                pressure: hasPressure ? ["\(group.folders[0])/memory.pressure"] : [],
                events: hasEvents ? [group.events] : []
            )
        )
        let reports = Recorder<Void>()
        let observation = pressure.observe { reports.append(()) }
        #expect(pressure.isAvailable)
        group.remove()
        await expectGone(pressure)
        #expect(reports.elements.isEmpty)
        withExtendedLifetime(observation) {}
    }

    private func expectGone(
        _ pressure: MemoryPressure,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        try? await eventually { !pressure.isAvailable }
        #expect(!pressure.isAvailable, sourceLocation: sourceLocation)
    }

    @Test func theKernelIsAskedByItsTrigger() throws {
        let pipe = try pipe("memory.pressure")
        let pressure = MemoryPressure(MemoryPressureSource(pressure: ["/nowhere/at/all", pipe.path]))
        let observation = pressure.observe {}
        #expect(pipe.handle.availableData == Data("some 150000 2000000\0".utf8))
        withExtendedLifetime(observation) {}
    }

    @Test func everyObserverIsNotifiedUntilItIsReleased() async throws {
        let pipe = try pipe("memory.pressure")
        let pressure = MemoryPressure(MemoryPressureSource(pressure: [pipe.path], isOrdinary: true))
        let (first, second) = (Recorder<Void>(), Recorder<Void>())
        let observation = pressure.observe { first.append(()) }
        // Its own trigger is the first thing that comes out of the pipe.
        try await first.wait()
        var other: MemoryPressure.Observation? = pressure.observe { second.append(()) }
        pipe.handle.write(Data("x".utf8))
        try await first.wait(count: 2)
        try await second.wait()
        withExtendedLifetime(other) {}
        other = nil
        pipe.handle.write(Data("x".utf8))
        try await first.wait(count: 3)
        #expect(second.elements.count == 1)
        withExtendedLifetime(observation) {}
    }

    @Test func aCounterThatRisesEmptiesACache() async throws {
        let pipe = try pipe("memory.events")
        let pressure = MemoryPressure(
            MemoryPressureSource(pressure: [], events: [pipe.path], isOrdinary: true)
        )
        #expect(pressure.isAvailable)
        let cache = AutoPurgingImageCache(memoryPressure: pressure)
        let image = try #require(DecodedImage(pixels: Data(count: 4), pixelWidth: 1, pixelHeight: 1))
        cache.add(image, identifier: "a")
        // Reported twice: the second time, all observers have received the first.
        let reports = Recorder<Void>()
        let observation = pressure.observe { reports.append(()) }
        pipe.handle.write(Data("low 9\nhigh 1\n".utf8))
        try await reports.wait()
        pipe.handle.write(Data("low 9\nhigh 2\n".utf8))
        try await reports.wait(count: 2)
        #expect(cache.memoryUsage == 0)
        withExtendedLifetime(observation) {}
    }

    /// As when its control group is removed. A pipe that no one can write to any more says the same.
    @Test func missingFilesAreLookedForAgain() async throws {
        var pipe: (path: String, handle: FileHandle)? = try pipe("memory.events")
        let path = try #require(pipe?.path)
        let pressure = MemoryPressure(MemoryPressureSource(pressure: [], events: [path], isOrdinary: true))
        let observation = pressure.observe {}
        #expect(pressure.isAvailable)
        try pipe?.handle.close()
        pipe = nil
        await expectGone(pressure)
        withExtendedLifetime(observation) {}
        let reports = Recorder<Void>()
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let other = pressure.observe { reports.append(()) }
        handle.write(Data("high 1\n".utf8))
        try await reports.wait()
        #expect(pressure.isAvailable)
        withExtendedLifetime(other) {}
    }

    @Test func itCanBeUsedAgainAfterTheLastObserver() async throws {
        let pipe = try pipe("memory.events")
        let pressure = MemoryPressure(
            MemoryPressureSource(pressure: [], events: [pipe.path], isOrdinary: true)
        )
        for _ in 0..<2 {
            let reports = Recorder<Void>()
            let observation = pressure.observe { reports.append(()) }
            pressure.notifyObservers()
            try await reports.wait()
            withExtendedLifetime(observation) {}
        }
    }

    @Test func withoutFilesNothingIsReportedAndNothingFails() {
        let pressure = MemoryPressure(MemoryPressureSource(pressure: ["/nowhere/at/all"]))
        #expect(!pressure.isAvailable)
        let cache = AutoPurgingImageCache(memoryPressure: pressure)
        #expect(cache.memoryUsage == 0)
    }

    @Test(
        "The kernel accepts the trigger if this process may set one",
        .enabled(if: Self.permitsTriggers(of: "memory"), "This process may not set a trigger.")
    )
    func theKernelTakesTheTrigger() {
        #expect(MemoryPressure.shared.isAvailable)
    }

    /// A process in a group of its own, whose memory is short: it reads more pages than it may keep.
    @Test(
        "The kernel's event of a control group empties a cache",
        .enabled(if: ControlGroup.isPermitted, "This process may not make control groups.")
    )
    func theKernelsEventOfAControlGroupIsReceived() async throws {
        let group = try ControlGroup(memory: 48 << 20)
        defer { group.remove() }
        let file = directory.url.appendingPathComponent("pages").path
        await #expect(processExitsWith: .success) {
            [folders = group.folders as [String], file = file as String] in
            alarm(50)
            try ControlGroup.join(folders)
            var source = MemoryPressureSource.current
            // The machine's file is not the group's.
            source.pressure.removeAll { $0.hasPrefix("/proc/") }
            let pressure = MemoryPressure(source)
            let cache = AutoPurgingImageCache(memoryPressure: pressure)
            guard pressure.isAvailable,
                let image = DecodedImage(pixels: Data(count: 4), pixelWidth: 1, pixelHeight: 1)
            else { _exit(2) }
            cache.add(image, identifier: "a")
            let reported = Gate()
            let observation = pressure.observe { reported.open() }
            let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            let piece = [UInt8](repeating: 1, count: 1 << 20)
            for _ in 0..<150 where write(descriptor, piece, piece.count) != piece.count { _exit(3) }
            for _ in 0..<3 {
                Thread.detachNewThread {
                    var buffer = [UInt8](repeating: 0, count: 1 << 16)
                    var offset = 0
                    while !reported.isOpen {
                        if pread(descriptor, &buffer, buffer.count, offset) < buffer.count {
                            offset = -(1 << 16)
                        }
                        offset += 1 << 16
                    }
                }
            }
            try await reported.wait(within: .seconds(30))
            // The observers are called one after the other.
            try? await eventually(within: .seconds(5)) { cache.memoryUsage == 0 }
            withExtendedLifetime(observation) {}
            _exit(cache.memoryUsage == 0 ? 0 : 4)
        }
    }

    /// The processor can be made short everywhere: its file is of the same kind, and takes the same trigger.
    @Test("The kernel's event is received", .enabled(if: Self.permitsTriggers(of: "cpu")))
    func theKernelsEventIsReceived() async throws {
        let pressure = MemoryPressure(MemoryPressureSource(pressure: ["/proc/pressure/cpu"]))
        let reported = Gate()
        let observation = pressure.observe { reported.open() }
        for _ in 0..<2 * ProcessInfo.processInfo.activeProcessorCount + 2 {
            Thread.detachNewThread { while !reported.isOpen {} }
        }
        defer { reported.open() }
        try await reported.wait(within: .seconds(20))
        withExtendedLifetime(observation) {}
    }

    private static func permitsTriggers(of resource: String) -> Bool {
        let descriptor = open("/proc/pressure/\(resource)", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }
}
