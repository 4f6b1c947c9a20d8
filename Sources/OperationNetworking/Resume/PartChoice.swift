/// The use of the partial files of one destination. There may be two: one that was begun, and one that was begun
/// later to take its place, since the server had another version, or another request was made.
///
/// | older \ newer      | nothing | of another request | unproven | proven |
/// |--------------------|---------|--------------------|----------|--------|
/// | nothing            | new     | new                | newer    | newer  |
/// | of another request | new     | new                | newer    | newer  |
/// | unproven           | older   | older              | older    | newer  |
/// | proven             | older   | older              | older    | newer  |
///
/// That one goes on; *new* is a part without a byte. The same counts when a download begins, and when a body has
/// broken off. When a third version comes, the one of the two that saves less goes (``isLess(_:_:)``).
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
        /// Whether there is a request that can ask for its rest.
        fileprivate var canGoOn: Bool { self == .proven || self == .ofOtherRequest }
    }

    /// - Parameter worths: of the parts, the oldest first.
    /// - Returns: the index of the part that goes on; `nil` for a new one.
    static func goesOn(_ worths: [Worth]) -> Int? {
        worths.lastIndex(of: .proven) ?? worths.firstIndex(of: .unproven)
    }

    /// Whether the first of two parts, each with the number of its bytes, saves less than the second: one whose
    /// rest cannot be asked for, then the shorter one.
    static func isLess(_ first: (Worth, Int64), _ second: (Worth, Int64)) -> Bool {
        first.0.canGoOn == second.0.canGoOn ? first.1 < second.1 : second.0.canGoOn
    }
}
