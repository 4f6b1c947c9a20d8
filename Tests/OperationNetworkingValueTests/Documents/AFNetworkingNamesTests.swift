import Foundation
import Testing

@testable import OperationNetworkingTestSupport

/// `Tests/AFNetworking.md` has a test or a reason for each of AFNetworking's tests, and each test is where it says.
@Suite struct AFNetworkingNamesTests {
    private let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    @Test func everyNameIsInTheFileThatTheListSays() throws {
        let list = try String(contentsOf: tests.appendingPathComponent("AFNetworking.md"), encoding: .utf8)
        let rows = list.matches(of: #/\n\| (?:[A-Z]+-\d\d )?`(test\w+)` \| (.+?) \|(?=\n|$)/#)
        #expect(rows.count == list.matches(of: #/\n\| .*\btest[A-Z]/#).count && rows.count > 150)
        var texts: [Substring: String] = [:]
        for row in rows {
            let (name, place) = (row.1, row.2)
            guard let path = place.wholeMatch(of: #/`([\w/]+\.swift)`/#)?.1 else {
                #expect(place.split(separator: " ").count > 3, "\(name) has no reason")
                continue
            }
            let text =
                try texts[path]
                ?? String(contentsOf: tests.appendingPathComponent(String(path)), encoding: .utf8)
            texts[path] = text
            #expect(text.contains(try Regex("\\b\(name)\\b")), "\(name) is not in \(path)")
        }
    }
}
