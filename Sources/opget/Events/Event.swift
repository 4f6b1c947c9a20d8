import Foundation

/// An event of `--json`. Documentation/OpgetEvents.md documents the fields and when they are present.
///
/// The coding keys are all possible fields; a test compares them with the documentation.
protocol Event: Encodable, Sendable {
    associatedtype CodingKeys: CodingKey, CaseIterable, RawRepresentable<String>
    static var name: EventName { get }
}

extension Event {
    static var fields: [String] { CodingKeys.allCases.map(\.rawValue) }
}

/// The name of an event.
enum EventName: String, Hashable, Sendable, CaseIterable {
    case runStarted, itemStarted, itemResponded, itemResumed, itemRestarted, itemRetrying, progress, paused,
        resumed,
        itemFinished, runFinished

    var type: any Event.Type {
        switch self {
        case .runStarted: RunStarted.self
        case .itemStarted: ItemStarted.self
        case .itemResponded: ItemResponded.self
        case .itemResumed: ItemResumed.self
        case .itemRestarted: ItemRestarted.self
        case .itemRetrying: ItemRetrying.self
        case .progress: ItemProgress.self
        case .paused: RunPaused.self
        case .resumed: RunResumed.self
        case .itemFinished: ItemFinished.self
        case .runFinished: RunFinished.self
        }
    }
}

/// The first event.
struct RunStarted: Event {
    enum CodingKeys: String, CodingKey, CaseIterable { case schema, opget, items, jobs }

    /// The schema version, which changes when a field's meaning changes or a field is removed.
    static let currentSchema = 1
    static let name = EventName.runStarted

    var schema = currentSchema
    var opget = OpgetCommand.version
    let items: Int
    let jobs: Int
}

/// An item is started.
struct ItemStarted: Event {
    enum CodingKeys: String, CodingKey, CaseIterable { case item, url, path }

    static let name = EventName.itemStarted

    let item: Int
    let url: String
    let path: String?
}

/// The head of a response other than a redirect was received.
struct ItemResponded: Event {
    enum CodingKeys: String, CodingKey, CaseIterable { case item, url, status, mediaType, length }

    static let name = EventName.itemResponded

    let item: Int
    let url: String
    let status: Int
    let mediaType: String?
    let length: Int64?
}

/// Existing bytes are kept.
struct ItemResumed: Event {
    enum CodingKeys: String, CodingKey, CaseIterable { case item, offset }

    static let name = EventName.itemResumed

    let item: Int
    let offset: Int64
}

/// Existing bytes are discarded.
struct ItemRestarted: Event {
    enum CodingKeys: String, CodingKey, CaseIterable { case item, reason }

    static let name = EventName.itemRestarted

    let item: Int
    let reason: String
}

/// An attempt failed, and another one follows.
struct ItemRetrying: Event {
    enum CodingKeys: String, CodingKey, CaseIterable { case item, delay, status, errorClass, error }

    static let name = EventName.itemRetrying

    let item: Int
    let delay: Double
    let status: Int?
    let errorClass: String?
    let error: String?
}

/// More of a body was received.
struct ItemProgress: Event {
    enum CodingKeys: String, CodingKey, CaseIterable { case item, received, expected, speed }

    static let name = EventName.progress

    let item: Int
    let received: Int64
    let expected: Int64?
    let speed: Int64?
}

/// The run was paused.
struct RunPaused: Event {
    enum CodingKeys: String, CodingKey, CaseIterable { case running }

    static let name = EventName.paused

    let running: Int
}

/// The run was resumed.
struct RunResumed: Event {
    enum CodingKeys: String, CodingKey, CaseIterable { case running }

    static let name = EventName.resumed

    let running: Int
}

/// The result of an item is final.
struct ItemFinished: Event {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case item, url, path, partialPath, result, bytes, resumedAt, proof, digest, seconds, status,
            errorClass, error
    }

    /// The result of an item.
    enum Result: String, Encodable, CaseIterable { case saved, alreadyThere, upToDate, failed, stopped }

    /// The proof that the file is complete.
    enum Proof: String, Encodable, CaseIterable { case digest, length, overlap, range, record, unverifiable }

    static let name = EventName.itemFinished

    let item: Int
    let url: String
    let path: String?
    var partialPath: String?
    let result: Result
    let bytes: Int64
    var resumedAt: Int64?
    var proof: Proof?
    var digest: String?
    var seconds: Double?
    var status: Int?
    var errorClass: String?
    var error: String?
}

/// The last event.
struct RunFinished: Event {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case outcome, exitCode, items, saved, alreadyThere, upToDate, failed, unfinished, bytes, seconds
    }

    static let name = EventName.runFinished

    let outcome: String
    let exitCode: Int32
    let items: Int
    let saved: Int
    let alreadyThere: Int
    let upToDate: Int
    let failed: Int
    let unfinished: Int
    let bytes: Int64
    let seconds: Double
}
