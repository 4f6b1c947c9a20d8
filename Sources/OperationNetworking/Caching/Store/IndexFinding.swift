/// The file with the name of the index, as it turns out to be when it is opened.
///
/// | Mark (`application_id`)           | Texts of the schema | Version       | Finding    | Done                  |
/// |-----------------------------------|---------------------|---------------|------------|-----------------------|
/// | none                              | none                | 0             | `empty`    | the schema is made    |
/// | any                               | all of ours         | ours          | `current`  | used                  |
/// | ours                              | any                 | before ours   | `earlier`  | begun anew            |
/// | ours                              | exactly ours        | after ours    | `damaged`  | begun anew            |
/// | ours                              | others              | after ours    | `later`    | left: memory only     |
/// | ours                              | not all of ours     | ours          | `damaged`  | begun anew            |
/// | ours                              | cannot be read      | after ours    | `later`    | left: memory only     |
/// | ours                              | cannot be read      | any other     | `damaged`  | begun anew            |
/// | none                              | one of ours         | any           | as with ours | the same            |
/// | another's                         | all of ours         | any           | as with ours | the same            |
/// | none                              | cannot be read      | any           | -          | the error decides     |
/// | any other                         | any other           | any           | `foreign`  | left: memory only     |
///
/// A mark in which one bit is another is ours.
///
/// So no version of this library removes what a later one has made, and no database of another program is
/// changed: also those that this SQLite cannot read, by their marks. Each number of the schema has to change
/// one of its texts, or a later version's index would be taken for one with a damaged number. A file that is
/// no database of SQLite's is begun anew: it is in the directory of the cache, and has the index's name.
enum IndexFinding: Hashable, Sendable, CaseIterable {
    case empty, current, earlier, later, damaged, foreign

    /// The number of the schema. The first one had no mark.
    static let version: Int64 = 3
    /// Marks our databases: "OpNC".
    static let application: Int64 = 0x4f70_4e43

    /// - Parameters:
    ///   - application: the database's `application_id`.
    ///   - version: its `user_version`.
    ///   - schema: the texts of its tables, indexes and triggers.
    ///   - ours: those of this version.
    init(application: Int64, version: Int64, schema: Set<String>, ours: Set<String>) {
        if schema.isEmpty, application == 0, version == 0 {
            self = .empty
            return
        }
        let isOurs: Bool
        if Self.isMark(application) {
            isOurs = true
        } else if application == 0 {
            isOurs = !schema.isDisjoint(with: ours)
        } else {
            isOurs = schema.isSuperset(of: ours)
        }
        guard isOurs else {
            self = .foreign
            return
        }
        if version < Self.version {
            self = .earlier
        } else if version > Self.version {
            // A bit of the number alone has changed.
            self = schema == ours ? .damaged : .later
        } else {
            self = schema.isSuperset(of: ours) ? .current : .damaged
        }
    }

    /// A database whose texts cannot be read; `nil`: nothing says whose it is.
    init?(unreadableWith application: Int64, version: Int64) {
        if Self.isMark(application) {
            self = version > Self.version ? .later : .damaged
        } else if application != 0 {
            self = .foreign
        } else {
            return nil
        }
    }

    /// Whether a mark is ours, one bit of which may have changed.
    private static func isMark(_ number: Int64) -> Bool {
        let difference = UInt32(truncatingIfNeeded: number) ^ UInt32(truncatingIfNeeded: application)
        return difference.nonzeroBitCount <= 1
    }

    /// Whether another index may take the place of the file.
    var mayBeReplaced: Bool {
        switch self {
        case .earlier, .damaged: true
        case .empty, .current, .later, .foreign: false
        }
    }
}
