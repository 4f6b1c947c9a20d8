import Foundation
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// The encoded form, to the octet.
@Suite struct MultipartFormDataTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func file(_ name: String, _ text: String = "content") throws -> URL {
        let file = directory.file(name)
        try Data(text.utf8).write(to: file)
        return file
    }

    private func encoded(_ build: (inout MultipartFormData) throws -> Void) throws -> String {
        var form = try MultipartFormData(boundary: "B")
        try build(&form)
        let text = try String(decoding: read(form.body), as: UTF8.self)
        #expect(form.length == Int64(text.utf8.count))
        return text
    }

    // MARK: - Framing

    @Test func aFieldIsItsDispositionAndItsData() throws {
        let text = try encoded { $0.appendPart(withFormData: Data("1".utf8), name: "a") }
        #expect(text == "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--B--\r\n")
    }

    @Test func partsFollowEachOther() throws {
        let text = try encoded { form in
            form.appendPart(withFormData: Data("1".utf8), name: "a")
            form.appendPart(withFormData: Data(), name: "b")
            try form.appendPart(
                withFileData: Data("x\r\n".utf8),
                name: "f",
                fileName: "f.bin",
                mimeType: "a/b"
            )
        }
        #expect(
            text == "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1"
                + "\r\n--B\r\nContent-Disposition: form-data; name=\"b\"\r\n\r\n"
                + "\r\n--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f.bin\"\r\n"
                + "Content-Type: a/b\r\n\r\nx\r\n\r\n--B--\r\n"
        )
    }

    @Test func theHeadersOfAPartHaveAFixedOrder() throws {
        let text = try encoded { form in
            try form.appendPart(
                withHeaders: [
                    "X-B": "2", "content-type": "a/b", "X-A": "1", "Content-Disposition": "form-data",
                ],
                body: Data("x".utf8)
            )
        }
        #expect(
            text == "--B\r\nContent-Disposition: form-data\r\ncontent-type: a/b\r\nX-A: 1\r\nX-B: 2\r\n\r\nx"
                + "\r\n--B--\r\n"
        )
    }

    @Test func aFileIsReadWhenTheFormIs() throws {
        let file = try file("note.txt", "hello")
        let text = try encoded { form in
            try form.appendPart(withFileURL: file, name: "f")
            try Data("HELLO".utf8).write(to: file)
        }
        #expect(
            text == "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"note.txt\"\r\n"
                + "Content-Type: text/plain\r\n\r\nHELLO\r\n--B--\r\n"
        )
    }

    @Test func aFileMayHaveAnotherNameAndType() throws {
        let file = try file("note.txt")
        let text = try encoded { form in
            try form.appendPart(withFileURL: file, name: "f", fileName: "other.x", mimeType: "x/y; z=1")
        }
        #expect(text.contains("filename=\"other.x\"\r\nContent-Type: x/y; z=1\r\n\r\ncontent"))
    }

    @Test(arguments: [true, false])
    func streamsGiveAsManyBytesAsWereRequested(isRepeatable: Bool) throws {
        let text = try encoded { form in
            if isRepeatable {
                try form.appendPart(name: "s", fileName: "s.bin", length: 4, mimeType: "a/b") {
                    InputStream(data: Data("12345".utf8))
                }
            } else {
                try form.appendPart(
                    withInputStream: InputStream(data: Data("12345".utf8)),
                    name: "s",
                    fileName: "s.bin",
                    length: 4,
                    mimeType: "a/b"
                )
            }
            #expect(form.body.isRepeatable == isRepeatable)
        }
        #expect(
            text == "--B\r\nContent-Disposition: form-data; name=\"s\"; filename=\"s.bin\"\r\n"
                + "Content-Type: a/b\r\n\r\n1234\r\n--B--\r\n"
        )
    }

    // MARK: - Names

    @Test(arguments: [
        ("a\"b", "a%22b"), ("a\r\nb", "a%0D%0Ab"), ("a\nb", "a%0D%0Ab"), ("a\rb", "a%0D%0Ab"),
        ("\n\r\r\n", "%0D%0A%0D%0A%0D%0A"), ("a\\b", "a\\b"), ("%22", "%22"), ("grün;=", "grün;="), ("", ""),
        ("a[b][]", "a[b][]"), ("e\u{301}\n", "e\u{301}%0D%0A"),
    ])
    func aNameCannotEndItsField(name: String, escaped: String) throws {
        let text = try encoded { $0.appendPart(withFormData: Data("1".utf8), name: name) }
        #expect(text.hasPrefix("--B\r\nContent-Disposition: form-data; name=\"\(escaped)\"\r\n\r\n1"))
    }

    @Test(arguments: [("a\"\r\nb.txt", "a%22%0D%0Ab.txt"), ("a\nb", "a%0Ab"), ("日本.png", "日本.png")])
    func aFileNameCannotEndItsField(name: String, escaped: String) throws {
        let text = try encoded { form in
            try form.appendPart(withFileData: Data(), name: "f", fileName: name, mimeType: "a/b")
        }
        #expect(text.contains("filename=\"\(escaped)\"\r\nContent-Type: a/b\r\n"))
    }

    // MARK: - What is refused

    @Test(arguments: ["", "a/b\r\nX: 1", "a\u{0}b"])
    func aMediaTypeThatEndsItsFieldIsRefused(type: String) throws {
        var form = MultipartFormData()
        let file = try file("f")
        #expect(throws: RequestBodyError.invalidMIMEType(type)) {
            try form.appendPart(withFileData: Data(), name: "a", fileName: "f", mimeType: type)
        }
        #expect(throws: RequestBodyError.invalidMIMEType(type)) {
            try form.appendPart(withFileURL: file, name: "a", fileName: "f", mimeType: type)
        }
        #expect(form.isEmpty)
    }

    @Test func invalidHeadersAreRefused() {
        var form = MultipartFormData()
        #expect(throws: RequestSerializationError.invalidFieldName("a:")) {
            try form.appendPart(withHeaders: ["a:": "b"], body: Data())
        }
        #expect(throws: RequestSerializationError.invalidFieldValue(name: "a")) {
            try form.appendPart(withHeaders: ["a": "b\r\n\r\n"], body: Data())
        }
        #expect(form.isEmpty)
    }

    @Test func aURLThatIsNotAFileIsRefusedAsInAFNetworking() throws {
        var form = MultipartFormData()
        let url = try #require(URL(string: "http://localhost/a.txt"))
        let error = try #require(throws: RequestBodyError.self) {
            try form.appendPart(withFileURL: url, name: "a")
        }
        #expect(error == .notAFileURL("http://localhost/a.txt"))
        let old = error as NSError
        #expect(old.domain == "com.alamofire.error.serialization.request")
        #expect(old.code == -1000)
        #expect(old.localizedFailureReason == "Expected URL to be a file URL")
    }

    @Test func aMissingFileIsRefusedAsInAFNetworking() throws {
        var form = MultipartFormData()
        let path = directory.file("nothing").path
        let error = try #require(throws: RequestBodyError.self) {
            try form.appendPart(withFileURL: URL(fileURLWithPath: path), name: "a")
        }
        #expect(error == .unreadableFile(path: path, reason: "No such file or directory"))
        #expect((error as NSError).code == -1000)
        #expect((error as NSError).localizedFailureReason == "File URL not reachable.")
        #expect(form.isEmpty)
    }

    @Test func onlyRegularFilesAreTaken() throws {
        let fifo = try FIFO(in: directory)
        var form = MultipartFormData()
        for (url, reason) in [
            (directory.url, "Is a directory"), (fifo.url, "Illegal seek"),
            (URL(fileURLWithPath: "/dev/zero"), "Illegal seek"),
        ] {
            #expect(throws: RequestBodyError.unreadableFile(path: url.path, reason: reason)) {
                try form.appendPart(withFileURL: url, name: "a")
            }
        }
    }

    // MARK: - Boundaries

    @Test func everyFormHasABoundaryOfItsOwn() throws {
        let forms = (0..<100).map { _ in MultipartFormData() }
        #expect(Set(forms.map(\.boundary)).count == 100)
        for form in forms {
            #expect(form.boundary.wholeMatch(of: /Boundary\+[0-9A-F]{16}/) != nil)
            #expect(form.contentType == "multipart/form-data; boundary=\(form.boundary)")
        }
    }

    @Test(arguments: ["", "a b", "a\"b", "ä", "a\r\n", String(repeating: "a", count: 71)])
    func anInvalidBoundaryIsRefused(boundary: String) {
        #expect(throws: RequestBodyError.invalidBoundary(boundary)) {
            try MultipartFormData(boundary: boundary)
        }
    }

    @Test(arguments: [
        ("a", "a"), ("a+b_c-d.e'", "a+b_c-d.e'"), ("a:b", "\"a:b\""), ("(a)?=/,", "\"(a)?=/,\""),
    ])
    func aBoundaryThatIsNotATokenIsQuoted(boundary: String, parameter: String) throws {
        let form = try MultipartFormData(boundary: boundary)
        #expect(form.contentType == "multipart/form-data; boundary=\(parameter)")
    }

    // MARK: - Rates

    @Test func theSuggestionsAreAFNetworkings() {
        #expect(MultipartFormData.suggestedPacketSizeFor3G == 16_384)
        #expect(MultipartFormData.suggestedDelayFor3G == 0.2)
    }

    @Test func aCopyOfAFormIsAnotherForm() throws {
        var form = try MultipartFormData(boundary: "B")
        form.appendPart(withFormData: Data("1".utf8), name: "a")
        var copy = form
        copy.appendPart(withFormData: Data("2".utf8), name: "b")
        #expect(try read(form.body).count < read(copy.body).count)
        #expect(try String(decoding: read(form.body), as: UTF8.self).contains("name=\"b\"") == false)
    }
}
