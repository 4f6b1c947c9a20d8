/// The counters of a control group's `memory.events`
/// ([cgroup v2](https://docs.kernel.org/admin-guide/cgroup-v2.html#memory-interface-files)).
///
/// | Counter              | Means                                                     | Pressure |
/// |----------------------|-----------------------------------------------------------|----------|
/// | `low`                | memory was taken from a group that is protected           | no       |
/// | `high`               | the group went over `memory.high`, and was held up        | yes      |
/// | `max`                | it was about to go over `memory.max`, as a program that reads files does all the time | no |
/// | `oom`, `oom_kill`    | it could not get memory; a process was ended for it       | yes      |
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
