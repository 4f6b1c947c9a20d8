internal import Glibc

/// The reason why a decoder process returned no pixels.
package enum DecoderFailure: Error, Hashable, Sendable {
    /// The library's message about the image.
    case malformed(String)
    /// The image has more pixels than allowed, according to the library.
    case tooLarge
    /// The library reported a lack of memory.
    case outOfMemory
    /// The library, or its module for this format, is not installed.
    case missing
    /// The time limit was exceeded, and the process was ended.
    case timedOut
    /// The process ended; by a signal, if the number is not 0.
    case ended(signal: Int32)
    /// No process could be started. The value is `errno`.
    case notStarted(Int32)
    /// The library is in a plug-in, so the program cannot be started as a decoder.
    case isPlugIn

    /// Whether the process can decode another image.
    package var leavesProcess: Bool {
        switch self {
        case .malformed, .tooLarge, .outOfMemory, .missing: true
        case .timedOut, .ended, .notStarted, .isPlugIn: false
        }
    }

    /// The name of a signal that a limit or a defect of the library causes; the number of any other.
    package static func name(ofSignal signal: Int32) -> String {
        switch signal {
        case SIGXCPU: "SIGXCPU: it exceeded its processor time"
        case SIGKILL: "SIGKILL: terminated from outside, perhaps for lack of memory"
        case SIGSEGV: "SIGSEGV"
        case SIGBUS: "SIGBUS"
        case SIGABRT: "SIGABRT"
        case SIGTRAP: "SIGTRAP: it ran out of memory"
        case SIGILL: "SIGILL"
        case SIGFPE: "SIGFPE"
        default: "signal \(signal)"
        }
    }
}
