import Foundation
import OperationNetworking
import Testing

@testable import opget

@Suite struct EventWriterTests {
    private let time = Date(timeIntervalSince1970: 1_800_000_000.25)
    private let writer = EventWriter(.standardOutput)

    @Test func anEventIsAnObjectInALine() throws {
        let event = ItemProgress(item: 1, received: 4, expected: 10, speed: nil)
        #expect(
            try writer.line(event, at: time)
                == #"{"event":"progress","time":"2027-01-15T08:00:00.250Z","expected":10,"item":1,"received":4}"#
        )
    }

    @Test(arguments: ["a\nb", "\u{1B}[2J", "\"\\", "日本語", "\u{2028}", "\u{85}", "\u{202E}a", "👩‍💻", "\0"])
    func anyTextFitsInALineAndIsRestored(text: String) throws {
        let event = ItemStarted(item: 1, url: "http://h/a", path: text)
        let line = try writer.line(event, at: time)
        #expect(!line.unicodeScalars.contains { $0.changesLayout })
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        #expect(object?["path"] as? String == text)
    }

    @Test(arguments: [
        ("http://user:pass@h/a?b=c#d", "http://h/a?b=c#d"), ("http://user@h:8/", "http://h:8/"),
        ("http://h/a", "http://h/a"),
    ])
    func addressesLoseUserAndPassword(address: String, printable: String) throws {
        #expect(try #require(URL(string: address)).withoutUser == printable)
    }
}
