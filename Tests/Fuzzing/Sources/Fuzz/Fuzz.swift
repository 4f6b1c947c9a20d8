import Foundation
import FoundationNetworking
import FoundationXML

@testable import OperationNetworking
@testable import OperationNetworkingSystem

/// SwiftPM has the linker look for the main function under this name. libFuzzer's own would have another.
@_cdecl("Fuzz_main")
public func main(_ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt {
    var count = count
    var arguments = arguments
    return runDriver(&count, &arguments) { start, count in fuzz(start, count) }
}

/// See [libFuzzer as a library](https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library).
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ input: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The function that libFuzzer calls with every input. The first octet says what the others are for:
///
/// | Octet     | Read by                                                                             |
/// |-----------|-------------------------------------------------------------------------------------|
/// | `j`       | `JSONResponseSerializer`; the rest begins with a line that is the media type        |
/// | `x`       | `XMLDocumentResponseSerializer`, `XMLParserResponseSerializer`; the same            |
/// | `p`       | `PropertyListResponseSerializer`; the same                                          |
/// | `i`       | `ImageHeadResponseSerializer`; the same                                                 |
/// | `d`       | `DecodableResponseSerializer`; the same                                             |
/// | `t`       | `ResponseText`; the same                                                            |
/// | `m`       | `MediaType`                                                                         |
/// | `z`       | `ContentDecoder`, whole and octet by octet; the next octet says of which codings    |
/// | `c`       | `DownloadCheckpoint`, with a right digest, and the download that goes on from it    |
/// | `b`       | `JournalReplay`, each line with a right checksum, and the batch that goes on        |
/// | `a`       | `OperationArchive`                                                                  |
/// | any other | `ContentRange`                                                                      |
private func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let start, count > 0 else { return 0 }
    let input = Data(bytes: start, count: count)
    let rest = input.dropFirst()
    switch input.first {
    case UInt8(ascii: "j")?:
        var serializer = JSONResponseSerializer(readingOptions: .fragmentsAllowed)
        serializer.removesKeysWithNullValues = true
        serializer.acceptableContentTypes = nil
        read(rest, serializer)
    case UInt8(ascii: "x")?:
        var parsing = XMLParserResponseSerializer()
        parsing.acceptableContentTypes = nil
        (read(rest, parsing) as? XMLParser).map { _ = $0.parse() }
        var serializer = XMLDocumentResponseSerializer()
        serializer.acceptableContentTypes = nil
        (read(rest, serializer) as? XMLDocument).map { _ = $0.xmlString }
    case UInt8(ascii: "p")?:
        var serializer = PropertyListResponseSerializer()
        serializer.acceptableContentTypes = nil
        read(rest, serializer)
    case UInt8(ascii: "i")?:
        var serializer = ImageHeadResponseSerializer()
        serializer.acceptableContentTypes = nil
        read(rest, serializer)
    case UInt8(ascii: "d")?:
        var json = DecodableResponseSerializer(Tree.self)
        json.acceptableContentTypes = nil
        read(rest, json)
        var list = DecodableResponseSerializer(propertyList: Tree.self)
        list.acceptableContentTypes = nil
        read(rest, list)
    case UInt8(ascii: "t")?:
        let (response, body) = split(rest)
        _ = ResponseText(data: body, response: response.map { ReceivedResponse($0) })
    case UInt8(ascii: "m")?:
        guard let type = MediaType(fieldValue: String(decoding: rest, as: UTF8.self)) else { return 0 }
        _ = type.matches("*/*+json")
        precondition(type.matches(type.essence))
    case UInt8(ascii: "z")?:
        let codings = ["gzip", "deflate", "br", "zstd", "zstd, gzip", "br, br", "deflate, zstd", "gzip, br"]
        let coding = codings[Int(rest.first ?? 0) % codings.count]
        let bytes = Array(rest.dropFirst())
        precondition(decoded(bytes, coding, size: bytes.count) == decoded(bytes, coding, size: 1))
    case UInt8(ascii: "c")?:
        (try? DownloadCheckpoint(fileBytes: Array(rest))).map { _ = $0.partialContent(offset: $0.committed) }
        resume(fromCheckpoint: Array(rest))
    case UInt8(ascii: "b")?:
        (try? JournalReplay(Array(rest))).map { _ = $0.length }
        resume(fromJournal: Array(rest))
    case UInt8(ascii: "a")?:
        guard let archive = try? JSONDecoder().decode(OperationArchive.self, from: Data(rest)) else {
            return 0
        }
        _ = archive.request.bodySource?.length
        _ = ConnectionOperation(archive: archive)
    default:
        guard let range = try? ContentRange(fieldValue: String(decoding: input, as: UTF8.self)) else {
            return 0
        }
        precondition(
            range.bytes.map { !$0.isEmpty && $0.upperBound <= range.total ?? .max } ?? (range.total != nil)
        )
    }
    return 0
}

/// The octets that a coded body stands for, up to some megabytes; `nil` for one that is damaged or too long.
private func decoded(_ bytes: [UInt8], _ coding: String, size: Int) -> Data? {
    struct TooLong: Error {}
    guard let decoder = ContentDecoder(contentEncoding: coding) else { return nil }
    var result = Data()
    do {
        for start in stride(from: 0, to: bytes.count, by: max(size, 1)) {
            decoder.append(bytes[start..<min(start + size, bytes.count)].span)
            var isAll = false
            while !isAll {
                isAll = try decoder.decode(atMost: 1000, checking: { if $0 > 4 << 20 { throw TooLong() } }) {
                    piece in
                    for index in piece.indices { result.append(piece[index]) }
                }
            }
        }
        try decoder.finish()
        return result
    } catch {
        return nil
    }
}

/// Holds itself, so that it decodes anything, as deep as that is.
private indirect enum Tree: Decodable, Sendable {
    case leaf
    case array([Tree])
    case object([String: Tree])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let object = try? container.decode([String: Tree].self) {
            self = .object(object)
        } else if let array = try? container.decode([Tree].self) {
            self = .array(array)
        } else {
            self = .leaf
        }
    }
}

@discardableResult
private func read(_ input: Data, _ serializer: some ResponseSerializer) -> (any Sendable)? {
    let (response, body) = split(input)
    return try? serializer.responseObject(for: response, data: body)
}

/// A response whose content type is the first line, and the rest as its body.
private func split(_ input: Data) -> (HTTPURLResponse?, Data) {
    guard let end = input.firstIndex(of: UInt8(ascii: "\n")) else { return (nil, Data(input)) }
    let type = String(decoding: input[..<end], as: UTF8.self)
    let response = HTTPURLResponse(
        url: URL(filePath: "/"),
        statusCode: 200,
        httpVersion: nil,
        headerFields: ["Content-Type": type]
    )
    return (response, Data(input[(end + 1)...]))
}
