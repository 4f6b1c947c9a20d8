import Foundation
import FoundationNetworking
import OperationNetworking
import Testing

@testable import opget

@Suite struct SettingsTests {
    private func settings(_ headers: [String]) throws -> Settings {
        Settings(
            concurrency: 1,
            replacesFiles: false,
            fields: try headers.map(HeaderOption.init)
        )
    }

    @Test func requestsCarryTheFields() throws {
        let url = try #require(URL(string: "http://h/a"))
        let request = try settings(["Accept: text/plain", "X: 1", "X: 2"]).request(for: url)
        #expect(request.value(forHTTPHeaderField: "Accept") == "text/plain")
        #expect(request.value(forHTTPHeaderField: "X") == "1,2")
        #expect(request.value(forHTTPHeaderField: "User-Agent") == "opget/\(OpgetCommand.version)")
    }

    @Test func theUserAgentIsTheUsers() throws {
        let url = try #require(URL(string: "http://h/a"))
        let request = try settings(["user-agent: me"]).request(for: url)
        #expect(request.value(forHTTPHeaderField: "User-Agent") == "me")
    }

    /// A file is the answer to the same question when opget has another version.
    @Test func theUserAgentCountsIfItIsTheUsers() throws {
        let url = try #require(URL(string: "http://h/a"))
        func agent(_ headers: [String]) throws -> String? {
            try settings(headers).question(for: url).value(forHTTPHeaderField: "User-Agent")
        }
        #expect(try agent(["Accept: text/plain"]) == nil)
        #expect(try agent(["User-Agent: me"]) == "me")
    }
}
