internal import COperationNetworkingImages
internal import Glibc

/// The open files by which the kernel tells that memory is short, and a bell that ends a wait for them.
package final class PressureFiles: Sendable {
    /// The end of a wait.
    package enum News: Hashable, Sendable {
        /// Tasks were kept waiting for memory for as long as the trigger says.
        case pressure
        /// The counters of the control group changed.
        case events
        /// The bell was rung.
        case bell
        /// A file is of no more use: its control group is gone.
        case gone
    }

    private let pressure: Int32
    private let events: Int32
    private let bell: Int32
    private let kind: Int16

    /// Opens the files that can be opened; `nil` when the kernel tells by none of them.
    ///
    /// - Parameters:
    ///   - pressure: files of pressure stall information; the first that takes the trigger counts.
    ///   - trigger: the event that is asked for.
    ///   - events: `memory.events` of a control group.
    ///   - isOrdinary: the files are pipes of a test, which can be read when something happened.
    package init?(pressure: [String], trigger: String, events: [String], isOrdinary: Bool = false) {
        var opened: Int32 = -1
        for path in pressure where opened < 0 { opened = cimages_open_pressure(path, trigger) }
        var counted: Int32 = -1
        for path in events where counted < 0 { counted = cimages_open_events(path) }
        let bell = cimages_make_bell()
        guard opened >= 0 || counted >= 0, bell >= 0 else {
            for descriptor in [opened, counted, bell] where descriptor >= 0 { close(descriptor) }
            return nil
        }
        self.pressure = opened
        self.events = counted
        self.bell = bell
        kind = isOrdinary ? cimages_input_event() : cimages_priority_event()
    }

    deinit {
        for descriptor in [pressure, events, bell] where descriptor >= 0 { close(descriptor) }
    }

    /// Whether pressure is told of, and not counters only.
    package var hasPressure: Bool { pressure >= 0 }

    /// Blocks until something happens.
    package func wait() -> Set<News> {
        let polled = cimages_wait(pressure, events, bell, kind)
        let news = Self.news(
            pressure: polled.pressure,
            events: polled.events,
            bell: polled.bell,
            kind: kind
        )
        // A pipe stays readable until it is read.
        if news.contains(.pressure), kind == cimages_input_event() { _ = text(of: pressure) }
        return news
    }

    /// The news in the results of poll(2), 0 for a file that is not open. A trigger reports no error
    /// while it lasts; a counter always does beside its news, and reading it tells whether it is gone.
    ///
    /// | File              | Results                              | News     |
    /// |-------------------|--------------------------------------|----------|
    /// | `memory.pressure` | `POLLPRI`                            | pressure |
    /// | `memory.pressure` | `POLLERR`, with or without `POLLPRI` | gone     |
    /// | `memory.events`   | `POLLPRI`, with or without `POLLERR` | events   |
    /// | `memory.events`   | any other                            | gone     |
    ///
    /// `kind` is `POLLPRI`, or `POLLIN` for pipes of a test.
    package static func news(pressure: Int16, events: Int16, bell: Int16, kind: Int16) -> Set<News> {
        var news: Set<News> = []
        if pressure & ~kind != 0 {
            news.insert(.gone)
        } else if pressure != 0 {
            news.insert(.pressure)
        }
        if events & kind != 0 {
            news.insert(.events)
        } else if events != 0 {
            news.insert(.gone)
        }
        if bell != 0 { news.insert(.bell) }
        return news
    }

    /// Blocks until the bell is rung, and for some milliseconds at most. Answers whether it was rung.
    package func waitForBell(milliseconds: Int32) -> Bool {
        cimages_wait_for_bell(bell, milliseconds) != 0
    }

    /// Ends the wait of now, or the next one. Callable from any thread.
    package func ring() {
        cimages_ring(bell)
    }

    /// The counters, from the start of their file; reading them is what makes the next change an event.
    /// Empty when there is no such file; `nil` when it cannot be read any more: its control group is gone.
    package func readEvents() -> String? {
        text(of: events)
    }

    private func text(of file: Int32) -> String? {
        guard file >= 0 else { return "" }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        var count = pread(file, &bytes, bytes.count, 0)
        if count < 0, errno == ESPIPE { count = read(file, &bytes, bytes.count) }
        // A pipe that is empty.
        if count < 0, errno == EAGAIN { return "" }
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
