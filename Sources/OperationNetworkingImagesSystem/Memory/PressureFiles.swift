internal import COperationNetworkingImages
internal import Glibc

/// The open files through which the kernel reports memory pressure, and a bell that ends a wait for them.
package final class PressureFiles: Sendable {
    /// The reason why a wait ended.
    package enum WakeReason: Hashable, Sendable {
        /// Tasks waited for memory for as long as the trigger specifies.
        case pressure
        /// The counters of the control group changed.
        case events
        /// The bell was rung.
        case bell
        /// A file can no longer be used: its control group was removed.
        case gone
    }

    private let pressure: Int32
    private let events: Int32
    private let bell: Int32
    private let kind: Int16

    /// Opens the files that can be opened. Fails if the kernel reports through none of them.
    ///
    /// - Parameters:
    ///   - pressure: files of pressure stall information; the first that accepts the trigger is used.
    ///   - trigger: the event to wait for.
    ///   - events: `memory.events` of a control group.
    ///   - isOrdinary: whether the files are pipes of a test, which become readable when something happens.
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

    /// Whether pressure is reported, and not only counters.
    package var hasPressure: Bool { pressure >= 0 }

    /// Blocks until something happens.
    package func wait() -> Set<WakeReason> {
        let polled = cimages_wait(pressure, events, bell, kind)
        let reasons = Self.reasons(
            pressure: polled.pressure,
            events: polled.events,
            bell: polled.bell,
            kind: kind
        )
        // A pipe stays readable until it is read.
        if reasons.contains(.pressure), kind == cimages_input_event() { _ = text(of: pressure) }
        return reasons
    }

    /// Interprets the results of poll(2), which are 0 for a file that is not open. A trigger reports an error
    /// only when it is removed; a counter always reports one with its event, and reading it shows whether it
    /// was removed.
    ///
    /// | File              | Results                              | Reason   |
    /// |-------------------|--------------------------------------|----------|
    /// | `memory.pressure` | `POLLPRI`                            | pressure |
    /// | `memory.pressure` | `POLLERR`, with or without `POLLPRI` | gone     |
    /// | `memory.events`   | `POLLPRI`, with or without `POLLERR` | events   |
    /// | `memory.events`   | any other                            | gone     |
    ///
    /// `kind` is `POLLPRI`, or `POLLIN` for pipes of a test.
    package static func reasons(pressure: Int16, events: Int16, bell: Int16, kind: Int16) -> Set<WakeReason> {
        var reasons: Set<WakeReason> = []
        if pressure & ~kind != 0 {
            reasons.insert(.gone)
        } else if pressure != 0 {
            reasons.insert(.pressure)
        }
        if events & kind != 0 {
            reasons.insert(.events)
        } else if events != 0 {
            reasons.insert(.gone)
        }
        if bell != 0 { reasons.insert(.bell) }
        return reasons
    }

    /// Blocks until the bell is rung, for at most some milliseconds. Returns whether it was rung.
    package func waitForBell(milliseconds: Int32) -> Bool {
        cimages_wait_for_bell(bell, milliseconds) != 0
    }

    /// Ends the current wait, or the next one. Callable from any thread.
    package func ring() {
        cimages_ring(bell)
    }

    /// Returns the counters from the start of their file. Reading them is required for the next change to be
    /// an event. Empty if the file does not exist; `nil` if it can no longer be read, because its control
    /// group was removed.
    package func readEvents() -> String? {
        text(of: events)
    }

    private func text(of file: Int32) -> String? {
        guard file >= 0 else { return "" }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        var count = pread(file, &bytes, bytes.count, 0)
        if count < 0, errno == ESPIPE { count = read(file, &bytes, bytes.count) }
        // An empty pipe.
        if count < 0, errno == EAGAIN { return "" }
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
