internal import Foundation

/// An XML document as UTF-8, without byte order mark, that says of no other encoding.
///
/// What looks at the markup before the parser does must see the same characters as the parser. So the
/// encoding is found out once, here ([RFC 7303 §3](https://www.rfc-editor.org/rfc/rfc7303#section-3)): the
/// byte order mark, else the `charset` of the response, else the declaration, else UTF-8. A document in
/// another encoding is transcoded, and the name of that encoding taken out of its declaration.
struct XMLText {
    /// Valid UTF-8. The very body, if that is UTF-8 and begins with `<`.
    let octets: Data

    /// - Parameters:
    ///   - body: as received.
    ///   - charset: of the response. A name that is not known says nothing.
    /// - Throws: what is wrong with the encoding or its declaration.
    init(_ body: Data, charset: String?) throws(XMLRefusal) {
        let set = try XMLText.set(of: body, charset: charset)
        let isUTF8 = set == .utf8 || set.encoding == .ascii
        var octets = body
        if !isUTF8 {
            guard let text = set.decode(body) else { throw XMLRefusal("not text in its encoding", at: 0) }
            octets = Data(text.utf8)
        } else if body.starts(with: XMLText.utf8Mark) {
            octets = Data(body.dropFirst(XMLText.utf8Mark.count))
        }
        guard (try? UTF8Span(validating: octets.span)) != nil else {
            throw XMLRefusal("not valid UTF-8", at: 0)
        }
        let declaration = try XMLDeclaration(octets.span)
        if let name = declaration.encoding, name.lowercased() != "utf-8",
            let range = declaration.encodingRange
        {
            octets = Data(octets.prefix(range.lowerBound)) + Data(octets.dropFirst(range.upperBound))
        }
        self.octets = octets
    }

    // MARK: - Private

    private static let utf8Mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private static func set(of body: Data, charset: String?) throws(XMLRefusal) -> NamedCharacterSet {
        let start = body.prefix(4) + Data(repeating: 1, count: max(0, 4 - body.count))
        let first = Array(start)
        switch (first[0], first[1], first[2], first[3]) {
        case (0xEF, 0xBB, 0xBF, _): return .utf8
        case (0x00, 0x00, 0xFE, 0xFF), (0xFF, 0xFE, 0x00, 0x00): return .utf32
        case (0xFE, 0xFF, _, _), (0xFF, 0xFE, _, _): return .utf16
        default: break
        }
        if let charset, let set = NamedCharacterSet(name: charset) { return set }
        switch (first[0], first[1], first[2], first[3]) {
        case (0x00, 0x00, 0x00, 0x3C): return .utf32BigEndian
        case (0x3C, 0x00, 0x00, 0x00): return .utf32LittleEndian
        case (0x00, 0x3C, 0x00, _): return .utf16BigEndian
        case (0x3C, 0x00, _, 0x00): return .utf16LittleEndian
        default: break
        }
        guard let name = try XMLDeclaration(body.span).encoding else { return .utf8 }
        guard let set = NamedCharacterSet(name: name) else {
            throw XMLRefusal("in the unknown encoding \(name)", at: 0)
        }
        return set
    }
}

/// `<?xml version="1.0" encoding="..." standalone="..."?>`, read strictly: a parser that reads it more
/// leniently could find another encoding in it.
private struct XMLDeclaration {
    /// As written.
    private(set) var encoding: String?
    /// From the white space before `encoding` to behind its value.
    private(set) var encodingRange: Range<Int>?

    /// Nothing was declared if the octets do not begin with one.
    init(_ octets: Span<UInt8>) throws(XMLRefusal) {
        guard octets.has("<?xml", at: 0), octets.count > 5, octets[5].isXMLSpace else { return }
        var position = 5
        while true {
            let start = position
            position = octets.skippingXMLSpace(from: position)
            if octets.has("?>", at: position) { return }
            let name = octets.range(from: position) { $0 &- UInt8(ascii: "a") < 26 }
            position = octets.skippingXMLSpace(from: name.upperBound)
            guard position > start, !name.isEmpty, octets.has("=", at: position) else { break }
            position = octets.skippingXMLSpace(from: position + 1)
            guard octets.has("\"", at: position) || octets.has("'", at: position) else { break }
            let quote = octets[position]
            let value = octets.range(from: position + 1) { octet in
                octet > 0x20 && octet < 0x7F && octet != quote && octet != UInt8(ascii: "<")
            }
            guard value.upperBound < octets.count, octets[value.upperBound] == quote else { break }
            position = value.upperBound + 1
            guard octets.has("encoding", at: name.lowerBound), name.count == 8 else { continue }
            guard encoding == nil else { break }
            var text = ""
            for index in value { text.unicodeScalars.append(Unicode.Scalar(octets[index])) }
            encoding = text
            encodingRange = start..<position
        }
        throw XMLRefusal("its declaration is malformed", at: position)
    }
}
