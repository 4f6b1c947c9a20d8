import OperationNetworking

/// The partial files that a run leaves, by their use for the same command.
struct KeptParts: Hashable, Sendable {
    /// The use of a partial file for the next run.
    enum NextUse: Hashable, Sendable {
        case resumes
        /// The address no longer works. The path of the file.
        case needsLink(String)
        /// It can only be resumed with the same address, because there is no tag for a comparison. The path
        /// of the file.
        case needsSameLink(String)
        /// It can be resumed, but the server's file has a different checksum. The path of the file.
        case hasOtherChecksum(String)
        /// The bytes are kept only until others are received; with `checkpointUnproven`, they are not kept.
        case startsOver(RestartReason)
    }

    /// The number of files that can be resumed.
    private(set) var continuable = 0
    /// The number of files that start over, by reason.
    private(set) var obstacles: [RestartReason: Int] = [:]
    /// The files that the same command cannot complete.
    private(set) var stuck: [NextUse] = []

    /// Whether there are partial files, and none can be resumed.
    var startOver: Bool { continuable == 0 && !obstacles.isEmpty }

    mutating func add(_ nextUse: NextUse) {
        switch nextUse {
        case .resumes: continuable += 1
        case .needsLink, .needsSameLink, .hasOtherChecksum: stuck.append(nextUse)
        case .startsOver(let reason): obstacles[reason, default: 0] += 1
        }
    }

    /// A sentence for each reason why partial files cannot be used.
    var warnings: [String] {
        obstacles.sorted { $0.key.rawValue < $1.key.rawValue }.map { reason, count in
            reason == .checkpointUnproven
                ? Self.subject(count) + " is not kept: the file system could not show later that it is yours."
                : Self.subject(count) + " is kept, but \(reason): the same command starts over."
        }
    }

    /// The beginning of a sentence about `count` files.
    static func subject(_ count: Int) -> String {
        count == 1 ? "The partial data of one file" : "The partial data of \(count) files"
    }
}
