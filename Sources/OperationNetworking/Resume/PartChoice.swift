/// The use of the partial files of one destination, when there are two: one that was begun, and one that was
/// begun later to take its place, since the server had another version, or another request was made. The older
/// one is kept until the newer one is whole.
///
/// | older \ newer      | nothing           | of another request | unproven          | proven            |
/// |--------------------|-------------------|--------------------|-------------------|-------------------|
/// | nothing            | -                 | **new**, newer     | newer             | newer             |
/// | of another request | **new**, older    | **new**, newer     | newer, older      | newer, older      |
/// | unproven           | older             | older, newer       | older             | newer, older      |
/// | proven             | older             | older, newer       | older             | newer, older      |
///
/// The first word says which one goes on, and the second which one is kept beside it; *new* is a part without a
/// byte. One that is not named is removed: no later request could go on with it, or it is the oldest of three.
/// The same table counts when a download begins, and when a body has broken off.
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

    enum Age: Hashable, Sendable {
        case older, newer
    }

    /// - Returns: the part that goes on, `nil` for a new one; and the one that is kept beside it, if any.
    static func choose(older: Worth, newer: Worth) -> (goesOn: Age?, kept: Age?) {
        let goesOn: Age? =
            if newer == .proven || newer.isOfRequest && !older.isOfRequest {
                .newer
            } else {
                older.isOfRequest ? .older : nil
            }
        let kept: Age? =
            switch goesOn {
            case .newer: older == .nothing ? nil : .older
            case .older: newer == .ofOtherRequest ? .newer : nil
            case nil: newer != .nothing ? .newer : older != .nothing ? .older : nil
            }
        return (goesOn, kept)
    }
}
