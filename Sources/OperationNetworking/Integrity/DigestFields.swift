/// The digests of the whole representation (the complete file, also if this response has only a part of it),
/// from the head of a response.
///
/// | Field                    | Of what                                   | Counts with            |
/// |--------------------------|-------------------------------------------|------------------------|
/// | `Repr-Digest` (RFC 9530) | the whole representation, as coded        | 200, 206               |
/// | `Content-Digest`         | the content of this message, as coded     | 200                    |
/// | `Digest` (RFC 3230)      | the whole instance                        | 200, 206; no coding    |
/// | `Content-MD5` (RFC 1864) | the body of this message                  | 200; no coding         |
///
/// With 203 a proxy changed the bytes, and the digests may be of those before: none counts. Nor does any with
/// another status. An answer to `HEAD` has no content: it is not to be passed here.
///
/// What is malformed, and what names no algorithm known here, is ignored: a field that cannot be read proves
/// nothing. So is an algorithm with two different values, be it in one field or in two: the server
/// contradicts itself, and neither can be believed.
struct DigestFields: Hashable, Sendable {
    /// The treatment of the response's `Content-Encoding` before its bytes are written.
    enum ContentCoding: Hashable, Sendable {
        /// There is none, or only `identity`: every field counts.
        case none
        /// The coding is undone. The digests are of the coded bytes, which are not kept: none counts.
        case undone
        /// The coded bytes are what is kept. `Repr-Digest` and `Content-Digest` are of these; of the old
        /// fields servers have different opinions.
        case kept
    }

    /// At most one for each algorithm, the longest first.
    let digests: [FileDigest]

    init(_ fields: HeaderFields, status: Int, coding: ContentCoding) {
        guard status == 200 || status == 206, coding != .undone else {
            digests = []
            return
        }
        var found = Self.members(of: "Repr-Digest", in: fields)
        if status == 200 { found += Self.members(of: "Content-Digest", in: fields) }
        if coding == .none {
            found += Self.instanceDigests(in: fields)
            if status == 200 { found += Self.contentMD5(in: fields) }
        }
        var byAlgorithm: [DigestAlgorithm: Set<FileDigest>] = [:]
        for digest in found { byAlgorithm[digest.algorithm, default: []].insert(digest) }
        digests = byAlgorithm.values.filter { $0.count == 1 }.flatMap { $0 }
            .sorted { $0.bytes.count > $1.bytes.count }
    }

    // MARK: - Private

    /// `sha-256=:base64:, sha-512=:base64:`
    private static func members(of name: String, in fields: HeaderFields) -> [FileDigest] {
        guard let value = fields.combined(for: name),
            let dictionary = StructuredDictionary(fieldValue: value)
        else { return [] }
        return dictionary.members.compactMap { member in
            guard let algorithm = DigestAlgorithm(fieldKey: member.key), let bytes = member.bytes else {
                return nil
            }
            return try? FileDigest(algorithm, bytes: bytes)
        }
    }

    /// `SHA-256=base64,MD5=base64`, names in any case.
    private static func instanceDigests(in fields: HeaderFields) -> [FileDigest] {
        guard let value = fields.combined(for: "Digest") else { return [] }
        return value.utf8.split(separator: UInt8(ascii: ",")).compactMap { element in
            let element = element.trimmingHTTPWhitespace()
            guard let equals = element.firstIndex(of: UInt8(ascii: "=")),
                let algorithm = DigestAlgorithm(fieldKey: Substring(element[..<equals]).lowercased())
            else { return nil }
            return try? FileDigest(algorithm, base64: Substring(element[element.index(after: equals)...]))
        }
    }

    private static func contentMD5(in fields: HeaderFields) -> [FileDigest] {
        fields.values(for: "Content-MD5").compactMap { value in
            try? FileDigest(.md5, base64: Substring(value.utf8.trimmingHTTPWhitespace()))
        }
    }
}
