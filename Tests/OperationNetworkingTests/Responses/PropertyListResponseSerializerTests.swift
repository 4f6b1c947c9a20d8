import Foundation
import FoundationNetworking
import OperationNetworking
import Testing

@testable import OperationNetworkingTestSupport

@Suite(.timeLimit(.minutes(2))) struct PropertyListResponseSerializerTests {
    let serializer = PropertyListResponseSerializer()

    private func object(_ data: Data?, status: Int = 200, type: String? = "application/x-plist") throws
        -> (any Sendable)?
    {
        try serializer.responseObject(for: exampleResponse(status, type), data: data)
    }

    private func error(_ data: Data, status: Int = 200) throws -> ResponseSerializationError {
        try #require(throws: ResponseSerializationError.self) { try object(data, status: status) }
    }

    private static func list(_ tree: Any, _ format: PropertyListSerialization.PropertyListFormat) throws
        -> Data
    {
        try PropertyListSerialization.data(fromPropertyList: tree, format: format, options: 0)
    }

    @Test("PLS-01: a 204 without a body is nil and no error", arguments: [nil, Data()])
    func anEmptyBodyIsNil(data: Data?) throws {
        #expect(try object(data, status: 204, type: "text/plain") == nil)
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func makesATreeOfValues(format: PropertyListSerialization.PropertyListFormat) throws {
        let date = Date(timeIntervalSinceReferenceDate: 86_400)
        let long = String(repeating: "é", count: 300)
        let tree: [String: Any] = [
            "text": "a", "long": long, "number": 5, "real": 1.5, "truth": true, "date": date,
            "data": Data([1, 2]),
            "list": [[], [:], ["x": ["y": -1]], Int64.max] as [Any],
        ]
        let data = try Self.list(tree, format)
        #expect(PropertyListResponseSerializer.format(of: data) == format)
        let values = try #require(try object(data) as? [String: any Sendable])
        #expect(values.count == 8)
        #expect(values["text"] as? String == "a")
        #expect(values["long"] as? String == long)
        #expect(values["number"] as? Int == 5)
        #expect(values["real"] as? Double == 1.5)
        #expect(values["truth"] as? Bool == true)
        #expect(values["date"] as? Date == date)
        #expect(values["data"] as? Data == Data([1, 2]))
        let elements = try #require(values["list"] as? [any Sendable])
        #expect((elements[0] as? [any Sendable])?.isEmpty == true)
        #expect((elements[1] as? [String: any Sendable])?.isEmpty == true)
        #expect(((elements[2] as? [String: Any])?["x"] as? [String: Any])?["y"] as? Int == -1)
        #expect(elements[3] as? Int64 == .max)
    }

    @Test("A tree consists of values, even if mutable containers are requested")
    func ignoresMutability() throws {
        let serializer = PropertyListResponseSerializer(readOptions: .mutableContainersAndLeaves)
        let data = try Self.list(["a": ["b"]], .binary)
        let object = try serializer.responseObject(
            for: exampleResponse(200, "application/x-plist"),
            data: data
        )
        let values = try #require(object as? [String: any Sendable])
        #expect(type(of: try #require(values["a"])) == [any Sendable].self)
    }

    @Test func theBodyOfAnUnacceptableStatusIsParsedAnyway() throws {
        let error = try error(Self.list(["why": "quota"], .xml), status: 429)
        #expect(error.reason == .unacceptableStatusCode(429))
        #expect((error.responseObject as? [String: Any])?["why"] as? String == "quota")
    }

    @Test(arguments: ["text/xml", nil])
    func refusesOtherMediaTypes(type: String?) throws {
        let error = try #require(throws: ResponseSerializationError.self) {
            try object(Data("<plist><true/></plist>".utf8), type: type)
        }
        #expect(error.reason == .unacceptableContentType(type))
    }

    @Test(
        "What is no property list is an error, an NSError of AFNetworking's",
        arguments: [
            "text", "{ a = b; }", "(((((", "<html/>", "<plist>", "<plist></plist>", "<plist><array></plist>",
            "<plist><integer>x</integer></plist>",
            "<plist><dict><string>a</string></dict></plist>", "bplist00",
            "bplist00 and so on and so on and so on and so on",
            "<plist><date>now</date></plist>",
            "<plist><string>&nope;</string></plist>",
            "<plist><dict><key>CF$UID</key><integer>1</integer></dict></plist>",
            "<!DOCTYPE plist [<!ENTITY x 'y'>]><plist><string>&x;</string></plist>",
            "<!DOCTYPE plist SYSTEM '><array><array>'><plist><true/></plist>", "<plist v='>'><true/></plist>",
        ]
    )
    func refuses(text: String) throws {
        let data = Data(text.utf8)
        let error = try error(data, status: 500)
        guard case .malformedBody(.propertyList, let sentence) = error.reason else {
            Issue.record("\(error.reason)")
            return
        }
        #expect(!sentence.isEmpty)
        let bridged = error as NSError
        #expect(bridged.domain == "com.alamofire.error.serialization.response")
        #expect(bridged.code == -1016)
        #expect(bridged.userInfo["com.alamofire.serialization.response.error.data"] as? Data == data)
        #expect(
            (error.underlyingError as? ResponseSerializationError)?.reason == .unacceptableStatusCode(500)
        )
    }

    @Test(arguments: [String.Encoding.utf16, .utf16LittleEndian, .utf32, .isoLatin1])
    func readsXMLInAnyEncoding(encoding: String.Encoding) throws {
        let text =
            "<?xml version='1.0' encoding='iso-8859-1'?><plist version='1.0'><string>é</string></plist>"
        let data = try #require(text.data(using: encoding))
        #expect(try object(data) as? String == "é")
    }

    @Test func refusesXMLOfManyLevels() async throws {
        for count in [257, 100_000] {
            for (opening, closing) in [("<array>", "</array>"), ("<dict><key>a</key>", "</dict>")] {
                let text = String(repeating: opening, count: count) + String(repeating: closing, count: count)
                #expect(try await isRefused(Data("<plist>\(text)</plist>".utf8)))
            }
        }
    }

    @Test func reads255LevelsOnASmallStack() async throws {
        let text = String(repeating: "<array>", count: 255) + String(repeating: "</array>", count: 255)
        #expect(try await !isRefused(Data("<plist>\(text)</plist>".utf8)))
        #expect(try await !isRefused(Binary.levels(256)))
    }

    @Test(
        "Inconsistent binary lists are errors",
        arguments: [
            ("a circle of one", Binary(objects: [[0xA1, 0]])),
            ("a circle of two", Binary(objects: [[0xA1, 1], [0xA1, 0]])),
            ("a circle through a dictionary", Binary(objects: [[0xD1, 1, 0], [0x51, 0x61]])),
            ("itself as a key", Binary(objects: [[0xD1, 0, 0]])),
            ("a key that is a number", Binary(objects: [[0xD1, 1, 1], [0x10, 5]])),
            ("a tree of 2^60 leaves", Binary.doubling(60)),
            ("257 levels", Binary(data: Binary.levels(257))),
            ("100,000 levels", Binary(data: Binary.levels(100_000))),
            (
                "a size beyond the end",
                Binary(objects: [[0x4F, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]])
            ),
            (
                "a negative size",
                Binary(objects: [[0x4F, 0x13, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]])
            ),
            ("an array beyond the end", Binary(objects: [[0xAF, 0x12, 0x7F, 0xFF, 0xFF, 0xFF]])),
            ("a size that is no integer", Binary(objects: [[0xAF, 0x22, 0, 0, 0, 1]])),
            ("a size of 16 octets", Binary(objects: [[0x5F, 0x14]])),
            ("text that ends in the table", Binary(objects: [[0x52, 0x61]])),
            ("a reference to no object", Binary(objects: [[0xA1, 9]])),
            ("a reference of a keyed archive", Binary(objects: [[0x80, 1]])),
            ("null", Binary(objects: [[0x00]])),
            ("a set", Binary(objects: [[0xC1, 1], [0x51, 0x61]])),
            ("no objects", Binary(objects: [[0x09]], count: 0)),
            ("more objects than offsets", Binary(objects: [[0x09]], count: 1 << 40)),
            ("too many objects to count", Binary(objects: [[0x09]], count: .max)),
            ("no root", Binary(objects: [[0x09]], root: 1)),
            ("a table before the objects", Binary(objects: [[0x09]], table: 0)),
            ("a table behind the end", Binary(objects: [[0x09]], table: 1 << 62)),
            ("offsets of no width", Binary(objects: [[0x09]], offsetWidth: 0)),
            ("offsets of 255 octets", Binary(objects: [[0x09]], offsetWidth: 255)),
            ("references of no width", Binary(objects: [[0xA1, 1], [0x09]], referenceWidth: 0)),
            ("references of 9 octets", Binary(objects: [[0x09]], referenceWidth: 9)),
            ("a root that lies in the trailer", Binary(objects: [[0x09]], offsets: [20])),
            ("a root that is the mark", Binary(objects: [[0x09]], offsets: [0])),
            ("a date of NaN", Binary(objects: [[0x33, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]])),
            ("a date of negative NaN", Binary(objects: [[0x33, 0xFF, 0xF0, 0, 0, 0, 0, 0, 1]])),
            (
                "a date of NaN in an array",
                Binary(objects: [[0xA1, 1], [0x33, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]])
            ),
        ]
    )
    func refusesInvalidLists(name: String, list: Binary) async throws {
        #expect(try await isRefused(list.data), "\(name)")
    }

    @Test(
        "Dates outside of the calendar are accepted, since Foundation can describe them",
        arguments: [Double.infinity, -.infinity, 1e300]
    )
    func acceptsFarDates(seconds: Double) throws {
        let list = Binary(objects: [[0x33] + Binary.bytes(seconds.bitPattern)])
        let date = try #require(try object(list.data) as? Date)
        #expect(date.timeIntervalSinceReferenceDate == seconds)
        #expect(!"\(date)".isEmpty)
    }

    @Test func aDateOfNaNIsNotDecodedEither() throws {
        let list = Binary(objects: [[0xA1, 1], [0x33, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]])
        let error = try #require(throws: ResponseSerializationError.self) {
            try DecodableResponseSerializer(propertyList: [Date].self)
                .value(for: exampleResponse(200, "application/x-plist"), data: list.data)
        }
        let sentence = "Object 1 is a date that is not a number."
        #expect(error.reason == .malformedBody(.propertyList, sentence))
    }

    @Test(
        "A shared object counts at its greatest depth",
        arguments: [(1, 253), (50, 204), (204, 50), (253, 1)]
    )
    func sharedObjects(above: Int, below: Int) throws {
        // The root has the last chain twice: at once, and at the end of the chain before it.
        func list(above: Int) -> Data {
            let first = (1...above).map { [0xA1] + Binary.bytes(UInt64($0 + 1)).suffix(4) }
            let start = above + 1
            let last = (start..<start + below).map { [0xA1] + Binary.bytes(UInt64($0 + 1)).suffix(4) }
            let root = [0xA2] + Binary.bytes(UInt64(start)).suffix(4) + Binary.bytes(1).suffix(4)
            return Binary(objects: [root] + first + last + [[0x09]], referenceWidth: 4).data
        }
        #expect(try object(list(above: above)) != nil)
        let error = #expect(throws: ResponseSerializationError.self) {
            try object(list(above: above + 1))
        }
        #expect(error?.reason == .malformedBody(.propertyList, "It has more than 256 levels."))
    }

    @Test(
        "A dictionary may have 11,585 keys; more, which can be made to collide, are refused",
        arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary]
    )
    func limitsTheKeysOfADictionary(format: PropertyListSerialization.PropertyListFormat) async throws {
        func list(_ count: Int) throws -> Data {
            try Self.list(Dictionary(uniqueKeysWithValues: (0..<count).map { ("\($0)", true) }), format)
        }
        #expect(try await !isRefused(list(11_585)))
        #expect(try await isRefused(list(11_586)))
        let half = Dictionary(uniqueKeysWithValues: (0..<9_000).map { ("\($0)", true) })
        #expect(try await !isRefused(Self.list([half], format)))
        #expect(try await isRefused(Self.list([half, half], format)))
    }

    @Test("More than four million values, which would take about 1 GiB, are an error and not parsed")
    func refusesManyValues() async throws {
        // 2,500 arrays, which are one object, of 2,500 times the same truth: few octets, and no more weight
        // than a body of this length may have.
        let inner = [0xAF, 0x11, 0x09, 0xC4] + [UInt8](repeating: 2, count: 2500)
        let outer = [0xAF, 0x11, 0x09, 0xC4] + [UInt8](repeating: 1, count: 2500)
        let padding = [0x4F, 0x12, 0x00, 0x40, 0x00, 0x00] + [UInt8](repeating: 0, count: 4 << 20)
        let list = Binary(objects: [outer, inner, [0x09], padding]).data
        let error = try error(list)
        #expect(error.reason == .malformedBody(.propertyList, "It has more than 4000000 values."))
        let text = "<plist><array>\(String(repeating: "<data/>", count: 4_000_000))</array></plist>"
        let sentence = try self.error(Data(text.utf8)).description
        #expect(sentence.contains("more than 4000000 values or nodes, too many for a tree"))
    }

    @Test func twoHalfEmptyCharactersOfUTF16AreNoCrash() async throws {
        _ = try await isRefused(Binary(objects: [[0x62, 0xD8, 0x00, 0xD8, 0x00]]).data)
        _ = try await isRefused(Binary(objects: [[0x52, 0xFF, 0xFE]]).data)
        _ = try await isRefused(Binary(objects: [[0x14] + [UInt8](repeating: 0xFF, count: 16)]).data)
        _ = try await isRefused(Binary(objects: [[0x33, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]]).data)
        _ = try await isRefused(Binary(objects: [[0x72, 0xC3, 0x28]]).data)
    }

    @Test("Cutting a list off anywhere, or changing any of its octets, crashes nothing")
    func survivesDamage() async throws {
        let tree: [String: Any] = [
            "a": [1, 2.5, "é", Data([1]), Date(timeIntervalSince1970: 0), true, ["k": "v"]] as [Any]
        ]
        let data = try Self.list(tree, .binary)
        for index in data.indices {
            _ = try await isRefused(data.prefix(index))
            for octet in [0, 1, 0x0F, 0x7F, 0x80, 0xA1, 0xD1, 0xFF] as [UInt8] {
                var damaged = data
                damaged[index] = octet
                _ = try await isRefused(damaged)
            }
        }
    }

    @Test("F33: a copy has all settings")
    func copiesSettings() {
        var original = PropertyListResponseSerializer(readOptions: .mutableContainers)
        original.acceptableStatusCodes = [201]
        original.acceptableContentTypes = ["text/x"]
        let copy = original
        original.readOptions = []
        #expect(copy.readOptions == .mutableContainers)
        #expect(copy.acceptableStatusCodes == [201])
        #expect(copy.acceptableContentTypes == ["text/x"])
    }

    private func isRefused(_ data: Data) async throws -> Bool {
        let response = try exampleResponse(200, "application/x-plist")
        return await onDispatchThread { [serializer] in
            do {
                _ = try serializer.responseObject(for: response, data: data)
                return false
            } catch {
                return true
            }
        }
    }
}
