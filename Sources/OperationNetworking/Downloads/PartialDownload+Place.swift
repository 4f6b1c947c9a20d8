extension PartialDownload {
    /// The place of a body's bytes in the file.
    enum Place: Hashable, Sendable {
        /// At the start; the kept bytes are thrown away.
        case start
        /// Behind the kept bytes.
        case end
        /// At an offset within the kept bytes: those that come twice have to be equal.
        case again(from: Int64)

        /// The offset of the first byte that comes twice.
        var overlap: Int64? { if case .again(let offset) = self { offset } else { nil } }
    }

    /// A byte that came again is another one than before. Nothing of that piece was written.
    struct OverlapDifference: UselessBytes, Hashable, Sendable {
        /// The first byte of the piece.
        let offset: Int64

        var reason: RestartReason { .overlapDiffers }
    }

    /// The bytes came from servers that are not trusted now.
    struct UntrustedBytes: UselessBytes, Hashable, Sendable {
        var reason: RestartReason { .verificationChanged }
    }

    /// The verification of the servers that the bytes came from, with those that only a closure trusted.
    var verification: ServerVerification {
        checkpoint.map { $0.serverVerification.trusting($0.trustedServers ?? []) } ?? .anyServer
    }
}

/// Bytes that are there, and that nothing can be joined to: the whole has to come.
protocol UselessBytes: Error {
    var reason: RestartReason { get }
}
