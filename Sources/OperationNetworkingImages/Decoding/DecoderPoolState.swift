/// The state of a pool of decoders: which one decodes the next image, and which are kept.
///
/// | Event                      | Idle | Busy        | Result            |
/// |----------------------------|------|-------------|-------------------|
/// | take                       | some | any         | the last one used |
/// | take                       | none | below limit | start one         |
/// | take                       | none | at limit    | wait              |
/// | release, used up or failed | any  | any         | it is discarded   |
/// | release                    | any  | any         | it is kept        |
/// | expire                     | it   | any         | it is discarded   |
struct DecoderPoolState<Decoder> {
    enum Acquisition {
        case reuse(Item)
        case start
        case wait
    }

    /// A decoder, the number of images that it has decoded, and a number that is unique to each idle period.
    struct Item {
        let decoder: Decoder
        var images = 0
        var idlePeriod = 0
    }

    /// The maximum number of decoders.
    let limit: Int
    /// The number of images after which a decoder is replaced, so that side effects of an image do not
    /// persist.
    let imagesPerDecoder: Int
    private(set) var idle: [Item] = []
    private(set) var busy = 0
    private var idlePeriods = 0

    init(limit: Int, imagesPerDecoder: Int) {
        self.limit = limit
        self.imagesPerDecoder = imagesPerDecoder
    }

    mutating func take() -> Acquisition {
        if let item = idle.popLast() {
            busy += 1
            return .reuse(item)
        }
        guard busy < limit else { return .wait }
        busy += 1
        return .start
    }

    /// Returns a decoder to the pool after one more image; `nil` if it has failed. The result is the idle
    /// period for ``expire(_:)``; `nil` if the decoder is not kept.
    mutating func release(_ item: Item?) -> Int? {
        busy -= 1
        guard var item, item.images + 1 < imagesPerDecoder else { return nil }
        item.images += 1
        idlePeriods += 1
        item.idlePeriod = idlePeriods
        idle.append(item)
        return idlePeriods
    }

    /// Removes and returns the decoder that has been idle since that idle period began.
    mutating func expire(_ idlePeriod: Int) -> Item? {
        idle.firstIndex { $0.idlePeriod == idlePeriod }.map { idle.remove(at: $0) }
    }
}
