import Foundation
import Testing

@testable import OperationNetworkingTesting

struct RepresentationTests {
    private static let modified = Date(timeIntervalSince1970: 784_111_777.5)
    private static let modifiedText = "Sun, 06 Nov 1994 08:49:37 GMT"

    private let strong = Representation("0123456789", entityTag: .strong("v1"), lastModified: Self.modified)
    private let weak = Representation("0123456789", entityTag: .weak("v1"), lastModified: Self.modified)

    private func message(
        _ representation: Representation,
        _ headers: FieldLines = [:],
        method: String = "GET"
    ) -> Message {
        let request = ReceivedRequest(
            connectionNumber: 1,
            method: method,
            target: "/",
            version: "HTTP/1.1",
            headers: headers
        )
        return representation.message(for: request)
    }

    private func text(_ message: Message) -> String {
        String(decoding: message.body.data, as: UTF8.self)
    }

    // MARK: - Without ranges

    @Test func theWholeRepresentationHasAllFields() {
        var representation = strong
        representation.contentType = "text/plain"
        representation.contentCoding = "gzip"
        representation.date = Self.modified + 60
        representation.headers = ["X-More": "yes"]
        let message = message(representation)
        #expect(message.status == 200)
        #expect(
            message.fields == [
                "Date": "Sun, 06 Nov 1994 08:50:37 GMT", "ETag": "\"v1\"", "Last-Modified": Self.modifiedText,
                "Content-Type": "text/plain", "Content-Encoding": "gzip", "Accept-Ranges": "bytes",
                "X-More": "yes",
            ]
        )
        #expect(text(message) == "0123456789")
    }

    @Test func aTypeAmongTheFieldsIsSentAlone() {
        let message = message(Representation("0123456789", headers: ["content-type": "image/png"]))
        #expect(message.fields.values(of: "Content-Type") == ["image/png"])
    }

    @Test func onlyReadingIsAllowed() {
        let message = message(strong, method: "POST")
        #expect(message.status == 405)
        #expect(message.fields["Allow"] == "GET, HEAD")
    }

    // MARK: - Ranges

    @Test(arguments: [
        ("bytes=2-4", "bytes 2-4/10", "234"),
        ("bytes=4-", "bytes 4-9/10", "456789"),
        ("bytes=-3", "bytes 7-9/10", "789"),
        ("bytes=-30", "bytes 0-9/10", "0123456789"),
        ("bytes=8-100", "bytes 8-9/10", "89"),
        ("Bytes=0-0", "bytes 0-0/10", "0"),
    ])
    func aRangeIsServed(range: String, contentRange: String, body: String) {
        let message = message(strong, ["Range": range])
        #expect(message.status == 206)
        #expect(message.fields["Content-Range"] == contentRange)
        #expect(message.fields["ETag"] == "\"v1\"")
        #expect(text(message) == body)
    }

    @Test(arguments: ["bytes=10-", "bytes=10-20", "bytes=-0"])
    func anUnsatisfiableRangeIsRefused(range: String) {
        let message = message(strong, ["Range": range])
        #expect(message.status == 416)
        #expect(message.fields["Content-Range"] == "bytes */10")
        #expect(message.body.count == 0)
    }

    @Test(arguments: [
        "", "bytes", "bytes=", "bytes=-", "bytes=4-2", "bytes=+1-2", "items=0-1", "bytes=0-1,3-4", "bytes=a-",
    ])
    func anInvalidRangeIsIgnored(range: String) {
        #expect(message(strong, ["Range": range]).status == 200)
    }

    @Test func aRangeOfHEADIsIgnored() {
        #expect(message(strong, ["Range": "bytes=2-4"], method: "HEAD").status == 200)
    }

    // MARK: - Conditions

    @Test(arguments: [
        ("\"v1\"", 206), ("\"v2\"", 200), ("W/\"v1\"", 200), (modifiedText, 206),
        ("Sun, 06 Nov 1994 08:49:38 GMT", 200), ("", 200),
    ])
    func aRangeIsServedIfTheConditionIsExactlyOurValidator(condition: String, status: Int) {
        #expect(message(strong, ["Range": "bytes=2-4", "If-Range": condition]).status == status)
    }

    @Test func aWeakTagNeverPermitsARange() {
        #expect(message(weak, ["Range": "bytes=2-4", "If-Range": "W/\"v1\""]).status == 200)
    }

    @Test(
        arguments: [
            (["If-None-Match": "\"v1\""], 304),
            (["If-None-Match": "\"v0\", W/\"v1\""], 304),
            (["If-None-Match": "*"], 304),
            (["If-None-Match": "\"v2\""], 200),
            (["If-None-Match": "\"v2\"", "If-Modified-Since": modifiedText], 200),
            (["If-Modified-Since": modifiedText], 304),
            (["If-Modified-Since": "Sun, 06 Nov 1994 08:49:36 GMT"], 200),
            (["If-Modified-Since": "yesterday"], 200),
            (["If-Match": "\"v1\""], 200),
            (["If-Match": "W/\"v1\""], 412),
            (["If-Match": "\"v2\""], 412),
            (["If-Unmodified-Since": modifiedText], 200),
            (["If-Unmodified-Since": "Sun, 06 Nov 1994 08:49:36 GMT"], 412),
            (["If-None-Match": "\"v1\"", "Range": "bytes=0-1"], 304),
        ] as [(FieldLines, Int)]
    )
    func conditionsAreEvaluated(headers: FieldLines, status: Int) {
        #expect(message(strong, headers).status == status)
    }

    /// RFC 9110 §8.8.3: a tag may have a comma.
    @Test(arguments: ["a,b", ",", "a\\"]) func anEntityTagMayHaveAComma(opaque: String) {
        let representation = Representation("0123456789", entityTag: .strong(opaque))
        for list in ["\"\(opaque)\"", "\"x\", \"\(opaque)\"", "\"\(opaque)\",\"x,y\""] {
            #expect(message(representation, ["If-None-Match": list]).status == 304, "\(list)")
            #expect(message(representation, ["If-Match": list]).status == 200, "\(list)")
        }
        #expect(message(representation, ["If-None-Match": "\"a, b\", \"b\""]).status == 200)
    }

    @Test func aWeakTagIsEnoughForNotModified() {
        let message = message(weak, ["If-None-Match": "\"v1\""])
        #expect(message.status == 304)
        #expect(message.fields["ETag"] == "W/\"v1\"")
    }
}
