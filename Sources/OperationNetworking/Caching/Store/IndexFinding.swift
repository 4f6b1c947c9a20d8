/// The file with the name of the index, as it turns out to be when it is opened.
///
/// | Mark (`application_id`)           | Texts of the schema | Version       | Finding    | Done                  |
/// |-----------------------------------|---------------------|---------------|------------|-----------------------|
/// | none                              | none                | 0             | `empty`    | the schema is made    |
/// | ours, or none of another's        | all of ours         | ours          | `current`  | used                  |
/// | ours, or a text of ours           | any                 | before ours   | `earlier`  | begun anew            |
/// | ours, or a text of ours           | exactly ours        | after ours    | `damaged`  | begun anew            |
/// | ours, or a text of ours           | others              | after ours    | `later`    | left: memory only     |
/// | ours, or a text of ours           | not all of ours     | ours          | `damaged`  | begun anew            |
/// | another's, or none                | others              | any           | `foreign`  | left: memory only     |
///
/// So no version of this library removes what a later one has made, and no database of another program is
/// changed. A file that SQLite cannot read is begun anew: it is in the directory of the cache, and has the
/// index's name.
enum IndexFinding: Hashable, Sendable, CaseIterable {
    case empty, current, earlier, later, damaged, foreign

    /// The number of the schema. The first one had no mark.
    static let version: Int64 = 2
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
        guard application == Self.application || !schema.isDisjoint(with: ours) else {
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

    /// Whether another index may take the place of the file.
    var mayBeReplaced: Bool {
        switch self {
        case .earlier, .damaged: true
        case .empty, .current, .later, .foreign: false
        }
    }
}
