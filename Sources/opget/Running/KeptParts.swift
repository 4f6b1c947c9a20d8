import OperationNetworking

/// The partial files that a run leaves, by what the same command makes of them next.
struct KeptParts: Hashable, Sendable {
    /// The use that the next run has for a partial file.
    enum Prospect: Hashable, Sendable {
        case goesOn
        /// The server does not give it by that address any more. The path of the file.
        case needsLink(String)
        /// They go on by the same address alone: there is no tag by which another one could be compared. The path
        /// of the file.
        case needsSameLink(String)
        /// They go on, but the server's file has another checksum. The path of the file.
        case hasOtherChecksum(String)
        /// The bytes stay only until others come.
        case startsOver(RestartReason)
    }

    /// The number of those that go on.
    private(set) var continuable = 0
    /// The number of those that start over, by the reason.
    private(set) var obstacles: [RestartReason: Int] = [:]
    /// Those that the same command does not help.
    private(set) var stuck: [Prospect] = []

    /// Whether there are some, and none goes on.
    var startOver: Bool { continuable == 0 && !obstacles.isEmpty }

    mutating func add(_ prospect: Prospect) {
        switch prospect {
        case .goesOn: continuable += 1
        case .needsLink, .needsSameLink, .hasOtherChecksum: stuck.append(prospect)
        case .startsOver(let reason): obstacles[reason, default: 0] += 1
        }
    }

    /// A sentence for each reason: the bytes are there, and of no use.
    var warnings: [String] {
        obstacles.sorted { $0.key.rawValue < $1.key.rawValue }.map { reason, count in
            Self.subject(count) + " is kept, but \(reason): the same command starts over."
        }
    }

    /// The beginning of a sentence about `count` of them.
    static func subject(_ count: Int) -> String {
        count == 1 ? "What came of one file" : "What came of \(count) files"
    }
}
