extension PartialDownload.Place {
    init(_ place: BodyStart.Place) {
        self =
            switch place {
            case .start: .start
            case .end: .end
            case .again(let offset): .again(from: offset)
            }
    }
}

extension ResponseHead {
    /// Whether the end of the body can be told from its being cut off.
    var marksEnd: Bool {
        fields.contentLength != nil || (try? MessageLength.isChunked(fields)) == true
    }
}
