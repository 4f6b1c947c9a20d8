import Foundation
import OperationNetworkingTesting

/// A file of a server: its versions, and which of them is there now.
struct FileVersions: Sendable {
    /// The versions, the first one first.
    let bodies: [PatternBody]
    /// The index of the version that the server has.
    private(set) var current = 0
    /// After how many bytes of their body the next answers are cut.
    private var cuts: [Int] = []
    private let kind: ServerKind
    private let identifier = UUID().uuidString
    private let created = Date()

    init(_ kind: ServerKind, sizes: ClosedRange<Int>, using numbers: inout RandomNumbers) {
        self.kind = kind
        let length = Int.random(in: sizes, using: &numbers)
        var bodies = [PatternBody(seed: numbers.next(), length: length)]
        let nextLength: Int? =
            switch kind.change {
            case nil: nil
            case .bytes: length
            case .length:
                length + Int.random(in: 1...length / 4, using: &numbers)
                    * (Bool.random(using: &numbers) ? 1 : -1)
            case .shrinking: length / 8
            }
        if let nextLength { bodies.append(PatternBody(seed: numbers.next(), length: nextLength)) }
        self.bodies = bodies
        if kind.cut != nil {
            let count = Int.random(in: 1...4, using: &numbers)
            cuts = (0..<count).map { _ in Int.random(in: 1...length / 3, using: &numbers) }
        }
    }

    /// The version that the server has.
    var body: PatternBody { bodies[current] }

    /// Whether there is another version to come.
    var canChange: Bool { current + 1 < bodies.count }

    /// Puts the next version in its place.
    mutating func change() {
        if canChange { current += 1 }
    }

    /// The place at which to cut the answer to `request`; `nil`: it is sent whole.
    mutating func nextCut(for request: ReceivedRequest) -> Int? {
        request.method == "GET" && !cuts.isEmpty ? cuts.removeFirst() : nil
    }

    /// The representation that is served now.
    var representation: Representation {
        var representation = Representation(.pattern(body), misbehaviors: kind.misbehaviors)
        switch kind.validator {
        case .strongTag:
            representation.entityTag = .strong("\(identifier)-\(current)")
            representation.lastModified = Self.longAgo + Double(current * 86400)
        case .weakTag: representation.entityTag = .weak(identifier)
        case .date: representation.lastModified = Self.longAgo + Double(current * 86400)
        case .youngDate:
            representation.lastModified = created
            representation.date = created
        case .none: break
        }
        return representation
    }

    private static let longAgo = Date(timeIntervalSince1970: 1_500_000_000)

    // MARK: - Judging

    /// The fault of a file that claims to be complete; `nil` if it is one whole version, byte for byte.
    func fault(of file: URL) throws -> String? {
        var differences: [Int] = []
        for body in bodies {
            guard let difference = try body.firstDifference(fromFile: file) else { return nil }
            differences.append(difference)
        }
        let length = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        let texts = zip(bodies, differences).enumerated().map { index, version in
            "differs at byte \(version.1) from version \(index + 1) of \(version.0.length) bytes"
        }
        return "\(length) bytes, \(texts.joined(separator: ", "))"
    }
}
