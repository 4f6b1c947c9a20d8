/// The decoders of this process as a value: which is taken for the next image, and which is kept.
///
/// | asked                 | idle | busy       | answer            |
/// |-----------------------|------|------------|-------------------|
/// | take                  | some | any        | the last one used |
/// | take                  | none | under limit| start one         |
/// | take                  | none | at limit   | wait              |
/// | give, worn or broken  | any  | any        | it is dropped     |
/// | give                  | any  | any        | it is kept        |
/// | expire                | it   | any        | it is dropped     |
struct DecoderShelf<Decoder> {
    enum Take {
        case reuse(Item)
        case start
        case wait
    }

    /// A decoder, the number of images it had, and a number that is new each time it is put back.
    struct Item {
        let decoder: Decoder
        var images = 0
        var stay = 0
    }

    /// Decoders that run at the same time.
    let limit: Int
    /// The images after which a decoder is renewed, so that what one image left behind does not last.
    let wear: Int
    private(set) var idle: [Item] = []
    private(set) var busy = 0
    private var stays = 0

    init(limit: Int, wear: Int) {
        self.limit = limit
        self.wear = wear
    }

    mutating func take() -> Take {
        if let item = idle.popLast() {
            busy += 1
            return .reuse(item)
        }
        guard busy < limit else { return .wait }
        busy += 1
        return .start
    }

    /// Takes back a decoder that had one more image; `nil` when it is over. Answers the stay that
    /// ``expire(_:)`` ends; `nil` when the decoder is not kept.
    mutating func give(_ item: Item?) -> Int? {
        busy -= 1
        guard var item, item.images + 1 < wear else { return nil }
        item.images += 1
        stays += 1
        item.stay = stays
        idle.append(item)
        return stays
    }

    /// The decoder that was not used since that stay began, which is no longer kept.
    mutating func expire(_ stay: Int) -> Item? {
        idle.firstIndex { $0.stay == stay }.map { idle.remove(at: $0) }
    }
}
