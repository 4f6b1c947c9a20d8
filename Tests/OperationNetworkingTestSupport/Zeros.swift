import Foundation

/// Mebibytes of zeros in kilobytes of gzip. Members may follow each other (RFC 1952 §2.2).
enum Zeros {
    private static let megabyte =
        Data(
            base64Encoded: "H4sIAAAAAAACA+3BMQEAAADCoPVPbQhfo" + String(repeating: "A", count: 1355)
                + "PgMc6jinAAAQAA=="
        ) ?? Data()

    /// Bytes of one mebibyte on the wire.
    static var codedLength: Int { megabyte.count }

    static func inGzip(megabytes: Int) -> Data {
        (0..<megabytes).reduce(into: Data()) { bomb, _ in bomb.append(megabyte) }
    }
}
