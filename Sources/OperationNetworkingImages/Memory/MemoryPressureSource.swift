internal import Foundation

/// The files in which the kernel reports a process's memory pressure.
struct MemoryPressureSource: Hashable {
    /// The files of pressure stall information, in order of preference, starting with that of the process's
    /// own control group.
    var pressure: [String]
    /// `memory.events` of the control group.
    var events: [String]
    /// 150 ms of 2 s in which some task waited for memory. Windows that are whole multiples of 2 s need no
    /// privilege ([PSI](https://docs.kernel.org/accounting/psi.html)).
    var trigger = "some 150000 2000000"
    /// Whether the files are ordinary pipes, as in tests.
    var isOrdinary = false

    init(pressure: [String], events: [String] = [], isOrdinary: Bool = false) {
        self.pressure = pressure
        self.events = events
        self.isOrdinary = isOrdinary
    }

    /// Creates the sources of a process from its `/proc/self/cgroup`, in which version 2 has hierarchy 0 and
    /// no controllers.
    init(controlGroups: String) {
        var folders: [String] = []
        for line in controlGroups.split(separator: "\n") {
            guard line.hasPrefix("0::/"), !line.contains("/../") else { continue }
            let path = line.dropFirst(4)
            // If version 1 is mounted as well, version 2 is in a separate folder.
            for root in ["/sys/fs/cgroup/", "/sys/fs/cgroup/unified/"] {
                folders.append(path.isEmpty ? root : "\(root)\(path)/")
            }
        }
        pressure = folders.map { "\($0)memory.pressure" } + ["/proc/pressure/memory"]
        events = folders.map { "\($0)memory.events" }
    }

    /// The sources of this process.
    static var current: MemoryPressureSource {
        MemoryPressureSource(
            controlGroups: (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)) ?? ""
        )
    }
}

/// The counters of a control group's `memory.events`
/// ([cgroup v2](https://docs.kernel.org/admin-guide/cgroup-v2.html#memory-interface-files)).
///
/// | Counter           | Meaning                                            | Pressure |
/// |-------------------|----------------------------------------------------|----------|
/// | `low`             | memory was reclaimed from a protected group        | no       |
/// | `high`            | the group exceeded `memory.high` and was throttled | yes      |
/// | `max`             | it was about to exceed `memory.max`, which reading files does all the time | no       |
/// | `oom`, `oom_kill` | an allocation failed; a process was killed         | yes      |
struct MemoryEvents: Hashable {
    /// The sum of the counters that mean pressure.
    let count: UInt64

    init(_ text: String) {
        var count: UInt64 = 0
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, ["high", "oom", "oom_kill"].contains(words[0]),
                let number = UInt64(words[1])
            else { continue }
            count &+= number
        }
        self.count = count
    }
}
