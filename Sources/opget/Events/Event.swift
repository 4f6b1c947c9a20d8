import Foundation

/// Something that `--json` tells. Documentation/OpgetEvents.md says what each field means, and when it is there.
///
/// Its coding keys are all the fields that it can have: a test compares them with the documentation.
protocol Event: Encodable, Sendable {
    associatedtype CodingKeys: CodingKey, CaseIterable, RawRepresentable<String>
    static var name: EventName { get }
}

extension Event {
    static var fields: [String] { CodingKeys.allCases.map(\.rawValue) }
}

/// What happened.
enum EventName: String, Hashable, Sendable, CaseIterable {
    case runStarted, itemStarted, itemResponded, progress, paused, resumed, itemFinished, runFinished

    var type: any Event.Type {
        switch self {
        case .runStarted: RunStarted.self
        case .itemStarted: ItemStarted.self
        case .itemResponded: ItemResponded.self
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

    /// Changes when a field that was there means something else, or is there no more.
    static let currentSchema = 1
    static let name = EventName.runStarted

    var schema = currentSchema
    var opget = OpgetCommand.version
    let items: Int
    let jobs: Int
}

/// An item's turn has come.
struct ItemStarted: Event {
    enum CodingKeys: String, CodingKey, CaseIterable { case item, url, path, partialPath }

    static let name = EventName.itemStarted

    let item: Int
    let url: String
    let path: String?
    let partialPath: String?
}

/// The head of a response that is no redirect has come.
struct ItemResponded: Event {
    enum CodingKeys: String, CodingKey, CaseIterable { case item, url, status, mediaType, length }

    static let name = EventName.itemResponded

    let item: Int
    let url: String
    let status: Int
    let mediaType: String?
    let length: Int64?
}

/// More of a body has come.
struct ItemProgress: Event {
    enum CodingKeys: String, CodingKey, CaseIterable { case item, received, expected, speed }

    static let name = EventName.progress

    let item: Int
    let received: Int64
    let expected: Int64?
    let speed: Int64?
}

/// Everything pauses.
struct RunPaused: Event {
    enum CodingKeys: String, CodingKey, CaseIterable { case running }

    static let name = EventName.paused

    let running: Int
}

/// Everything goes on.
struct RunResumed: Event {
    enum CodingKeys: String, CodingKey, CaseIterable { case running }

    static let name = EventName.resumed

    let running: Int
}

/// Nothing more becomes of an item.
struct ItemFinished: Event {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case item, url, path, result, bytes, seconds, status, errorClass, error
    }

    /// How it ended.
    enum Result: String, Encodable, CaseIterable { case saved, alreadyThere, failed, stopped }

    static let name = EventName.itemFinished

    let item: Int
    let url: String
    let path: String?
    let result: Result
    let bytes: Int64
    let seconds: Double?
    let status: Int?
    let errorClass: String?
    let error: String?
}

/// The last event.
struct RunFinished: Event {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case outcome, exitCode, items, saved, alreadyThere, failed, unfinished, bytes, seconds
    }

    static let name = EventName.runFinished

    let outcome: String
    let exitCode: Int32
    let items: Int
    let saved: Int
    let alreadyThere: Int
    let failed: Int
    let unfinished: Int
    let bytes: Int64
    let seconds: Double
}
