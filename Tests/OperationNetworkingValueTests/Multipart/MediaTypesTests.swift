import Foundation
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct MediaTypesTests {
    @Test(arguments: [
        ("json", "application/json"), ("JPG", "image/jpeg"), ("jpeg", "image/jpeg"), ("png", "image/png"),
        ("html", "text/html"), ("txt", "text/plain"), ("pdf", "application/pdf"), ("mp4", "video/mp4"),
        ("gz", "application/gzip"), ("webp", "image/webp"), ("svg", "image/svg+xml"), ("mp3", "audio/mpeg"),
        ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("yaml", "application/yaml"), ("plist", "application/x-plist"),
    ])
    func anExtensionStandsForAType(name: String, type: String) {
        #expect(MediaTypes.type(ofExtension: name) == type)
    }

    @Test(arguments: ["", "nothing-known", "js on", "json;"])
    func whatIsUnknownIsBytes(name: String) {
        #expect(MediaTypes.type(ofExtension: name) == "application/octet-stream")
    }

    @Test("HRS-07: a .cer file has the type that AFNetworking's had")
    func certificates() {
        #expect(MediaTypes.type(ofExtension: "cer") == "application/x-x509-ca-cert")
    }

    @Test func theSystemsFileIsRead() {
        let text =
            "# a comment\n\ntext/x-one\t\tONE one.a\nno/extension\n  text/x-two two one\n#text/x three\n"
        let types = ["one": "text/x-one", "one.a": "text/x-one", "two": "text/x-two"]
        #expect(MediaTypes.types(in: text) == types)
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/etc/mime.types")))
    func theSystemsTypesCount() {
        #expect(MediaTypes.type(ofExtension: "movie") == "video/x-sgi-movie")
        #expect(MediaTypes.type(ofExtension: "JS") == "text/javascript")
    }
}
