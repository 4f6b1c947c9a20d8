import Foundation
import OperationNetworking
import Testing

@testable import opget

/// The documentation and the code name the same events, with the same fields.
@Suite struct EventDocumentationTests {
    private let text: String

    init() throws {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        text = try String(
            contentsOf: package.appendingPathComponent("Documentation/OpgetEvents.md"),
            encoding: .utf8
        )
    }

    /// The fields of each event in the table. A row without an event continues the one above.
    private var documented: [String: [String]] {
        var fields: [String: [String]] = [:]
        var events: [String] = []
        for line in text.split(separator: "\n") {
            guard let row = line.firstMatch(of: #/^\|(?<events>[^|]*)\|(?<fields>[^|]*)\|/#) else { continue }
            let names = row.fields.matches(of: #/`([A-Za-z]+)`/#).map { String($0.1) }
            guard !names.isEmpty else { continue }
            let cell = row.events.trimmingCharacters(in: .whitespaces)
            if !cell.isEmpty { events = cell.replacing("`", with: "").components(separatedBy: ", ") }
            for event in events { fields[event, default: []] += names }
        }
        return fields
    }

    @Test func everyEventIsDocumentedAndNoOther() {
        #expect(Set(documented.keys) == Set(EventName.allCases.map(\.rawValue) + ["every event"]))
        #expect(documented["every event"] == ["event", "time"])
    }

    @Test(arguments: EventName.allCases)
    func everyFieldOfAnEventIsDocumentedAndNoOther(name: EventName) {
        #expect(documented[name.rawValue].map(Set.init) == Set(name.type.fields))
        #expect(documented[name.rawValue]?.count == name.type.fields.count)
        #expect(name.type.name == name)
    }

    @Test func everyValueOfAnEnumerationIsDocumented() {
        for result in ItemFinished.Result.allCases { #expect(text.contains("`\(result.rawValue)`")) }
        for proof in ItemFinished.Proof.allCases { #expect(text.contains("`\(proof.rawValue)`")) }
        for reason in RestartReason.allCases { #expect(text.contains("`\(reason.rawValue)`")) }
        let outcomes: [Outcome] = [
            .success, .other, .file, .network, .tls, .authorization, .wrongAnswer, .server,
            .checksum, .diskFull, .signal(2),
        ]
        for outcome in outcomes { #expect(text.contains("`\(outcome.name)`")) }
        #expect(text.contains("the version of this document: \(RunStarted.currentSchema) "))
    }
}
