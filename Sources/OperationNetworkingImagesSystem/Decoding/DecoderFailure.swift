internal import Glibc

/// Why a decoder process gave no pixels.
package enum DecoderFailure: Error, Hashable, Sendable {
    /// The library's sentence about the image.
    case malformed(String)
    /// The image has more pixels than were allowed, by the library's own reading.
    case tooLarge
    /// The library said that memory was short.
    case outOfMemory
    /// The library, or its module for this format, is not installed.
    case missing
    /// The time was over, and the process was ended.
    case timedOut
    /// The process ended, by a signal if the number is not 0.
    case ended(signal: Int32)
    /// No process could be started; `errno`.
    case notStarted(Int32)
    /// The library is in a plug-in, and the program cannot be started as a decoder.
    case isPlugIn

    /// Whether the process can take another image.
    package var leavesProcess: Bool {
        switch self {
        case .malformed, .tooLarge, .outOfMemory, .missing: true
        case .timedOut, .ended, .notStarted, .isPlugIn: false
        }
    }

    /// A name of a signal that a limit or a defect of the library sends; its number for others.
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
