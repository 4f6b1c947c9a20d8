/// The use of the partial files of one destination. There may be two: one that was begun, and one that was begun
/// later to take its place, since the server had another version, or another request was made.
///
/// | older \ newer      | nothing | of another request | unproven        | proven |
/// |--------------------|---------|--------------------|-----------------|--------|
/// | nothing            | new     | new                | newer           | newer  |
/// | of another request | new     | new                | newer           | newer  |
/// | unproven           | older   | older              | the longer one  | newer  |
/// | proven             | older   | older              | older           | newer  |
///
/// That one goes on; *new* is a part without a byte. The same counts when a download begins, and when a body has
/// broken off. When a third version comes, the shorter one of the two goes.
enum PartChoice {
    /// What a partial file is worth to a request.
    enum Worth: Int, Hashable, Sendable, CaseIterable {
        /// It has no bytes, or none that any request could go on with.
        case nothing
        /// Another request may go on with it.
        case ofOtherRequest
        /// It is a part of the answer, and its server gave no strong validator: its rest is not asked for.
        case unproven
        /// Its rest can be asked for.
        case proven

        /// Whether the request may go on with it, or replace it by its answer.
        var isOfRequest: Bool { rawValue >= Self.unproven.rawValue }
    }

    /// - Parameter parts: with the number of their bytes, the oldest first.
    /// - Returns: the index of the part that goes on; `nil` for a new one.
    static func goesOn(_ parts: [(worth: Worth, count: Int64)]) -> Int? {
        if let proven = parts.lastIndex(where: { $0.worth == .proven }) { return proven }
        let unproven = parts.indices.filter { parts[$0].worth == .unproven }
        return unproven.first { index in unproven.allSatisfy { parts[$0].count <= parts[index].count } }
    }
}
