import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The attempts before bytes are thrown away: every row is one response to a question about ten bytes, of
/// which four are there, in a file that can be read back.
@Suite struct ResumeFallbackTests {
    typealias Row = ResumeDecisionTests.Row
    typealias Change = @Sendable (inout Row) -> Void

    private static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let later = "Sun, 06 Nov 1994 08:49:47 GMT"

    private static func inFile(_ change: @escaping Change = { _ in }) -> Change {
        { row in
            row.abilities = SinkAbilities(canBeEmptied: true, canCompare: true)
            change(&row)
        }
    }

    private static let plainly: Change = { row in
        row.asked = .rest(from: 4, ifRange: nil)
        row.history.hasAskedPlainly = true
    }
    private static let repeated: Change = { $0.history.hasRepeated = true }

    private static func part(_ range: String, _ others: HeaderFields = ["ETag": "\"v1\""]) -> HeaderFields {
        others.adding("Content-Range", range)
    }

    static let ranges = [
        Row("S2", 206, part("bytes 2-9/10"), .compare(from: 2, total: 10), with: inFile()),
        Row(
            "S2 ends where the file does",
            206,
            part("bytes 2-3/10").adding("Content-Length", "2"),
            .compare(from: 2, total: 10),
            with: inFile()
        ),
        Row(
            "S2 ends before",
            206,
            part("bytes 1-2/10").adding("Content-Length", "2"),
            .ask(.whole(because: .invalidResponse)),
            with: inFile()
        ),
        Row("S2 in memory", 206, part("bytes 2-9/10"), .ask(.whole(because: .invalidResponse))),
        Row("S3", 206, part("bytes 5-9/10"), .ask(.same), with: inFile()),
        Row(
            "S3 again",
            206,
            part("bytes 5-9/10"),
            .ask(.whole(because: .invalidResponse)),
            with: inFile(repeated)
        ),
        Row("S14", 206, part("bytes 4-9/10").adding("Content-Length", "7"), .ask(.same), with: inFile()),
        Row(
            "S14 again",
            206,
            part("bytes 4-9/10").adding("Content-Length", "7"),
            .ask(.whole(because: .invalidResponse)),
            with: inFile(repeated)
        ),
    ]

    static let ignoredRanges = [
        Row(
            "S21 (i) with If-Range",
            200,
            ["ETag": "\"v1\"", "Content-Length": "10"],
            .ask(.plainRest),
            with: inFile()
        ),
        Row(
            "S21 (i) answered by the part",
            206,
            part("bytes 4-9/10"),
            .append(total: 10),
            with: inFile(plainly)
        ),
        Row(
            "S12 the part without its tag",
            206,
            part("bytes 4-9/10", [:]),
            .ask(.overlap),
            with: inFile(plainly)
        ),
        Row(
            "S11 the part with another tag",
            206,
            part("bytes 4-9/10", ["ETag": "\"v2\""]),
            .ask(.whole(because: .resourceChanged)),
            with: inFile(plainly)
        ),
        Row(
            "S21 (ii) compared",
            200,
            ["ETag": "\"v1\"", "Content-Length": "10"],
            .compare(from: 0, total: 10),
            with: inFile(plainly)
        ),
        Row(
            "S21 (ii) chunked, which may be the rest (S28)",
            200,
            ["ETag": "\"v1\""],
            .ask(.whole(because: .rangeIgnored)),
            with: inFile(plainly)
        ),
        Row(
            "S21 (ii) chunked, in answer to the whole",
            200,
            ["ETag": "\"v1\""],
            .compare(from: 0, total: 10),
            with: inFile { $0.asked = .whole }
        ),
        Row(
            "S21 (ii) in answer to the whole",
            200,
            ["ETag": "\"v1\"", "Content-Length": "10"],
            .compare(from: 0, total: 10),
            with: inFile { $0.asked = .whole }
        ),
        Row(
            "S21 (iii) in memory",
            200,
            ["ETag": "\"v1\"", "Content-Length": "10"],
            .replace(total: 10, because: .rangeIgnored),
            with: plainly
        ),
        Row(
            "S21 a difference was found",
            200,
            ["ETag": "\"v1\"", "Content-Length": "10"],
            .replace(total: 10, because: .resourceChanged),
            with: inFile { row in
                row.asked = .whole
                row.history.hasFoundDifference = true
            }
        ),
        Row(
            "S27 a login page, which says nothing of the file (S28)",
            200,
            ["Content-Type": "text/html; charset=utf-8", "ETag": "\"v2\""],
            .ask(.whole(because: .variantChanged)),
            with: inFile { $0.first["Content-Type"] = "application/zip" }
        ),
        Row(
            "S27 a login page, in answer to the whole",
            200,
            ["Content-Type": "text/html; charset=utf-8", "ETag": "\"v2\""],
            .replace(total: nil, because: .variantChanged),
            with: inFile {
                $0.first["Content-Type"] = "application/zip"
                $0.asked = .whole
            }
        ),
        Row(
            "S27 only a parameter differs",
            200,
            ["Content-Type": "Text/Plain;a=b", "ETag": "\"v2\""],
            .replace(total: nil, because: .resourceChanged),
            with: inFile {
                $0.first["Content-Type"] = "text/plain"
                $0.asked = .whole
            }
        ),
        Row(
            "S20 it was coded",
            200,
            ["ETag": "\"v1\"", "Content-Length": "10"],
            .replace(total: 10, because: .contentCoded),
            with: inFile { row in
                row.asked = .whole
                row.first["Content-Encoding"] = "gzip"
            }
        ),
    ]

    // MARK: - Weak validators and none, where the caller wants them compared

    private static let weak: HeaderFields = [
        "ETag": "W/\"v1\"", "Last-Modified": modified, "Date": later, "Content-Length": "10",
    ]
    private static func overlapping(_ first: HeaderFields, _ condition: String? = nil) -> Change {
        inFile { row in
            row.first = first
            row.asked = .overlap(from: 1, to: 4, ifUnmodifiedSince: condition)
        }
    }
    private static let sameWeak: HeaderFields = ["ETag": "W/\"v1\"", "Last-Modified": modified]

    static let overlaps = [
        Row(
            "P10 all is equal",
            206,
            part("bytes 1-9/10", sameWeak),
            .compare(from: 1, total: 10, isProven: false),
            with: overlapping(weak)
        ),
        Row(
            "P10 the tag is strong now",
            206,
            part("bytes 1-9/10", ["ETag": "\"v1\"", "Last-Modified": modified]),
            .compare(from: 1, total: 10, isProven: false),
            with: overlapping(weak)
        ),
        Row(
            "P10 another tag",
            206,
            part("bytes 1-9/10", ["ETag": "W/\"v2\"", "Last-Modified": modified]),
            .ask(.whole(because: .resourceChanged)),
            with: overlapping(weak)
        ),
        Row(
            "P10 no tag",
            206,
            part("bytes 1-9/10", ["Last-Modified": modified]),
            .ask(.whole(because: .resourceChanged)),
            with: overlapping(weak)
        ),
        Row(
            "P10 another date",
            206,
            part("bytes 1-9/10", ["ETag": "W/\"v1\"", "Last-Modified": later]),
            .ask(.whole(because: .resourceChanged)),
            with: overlapping(weak)
        ),
        Row(
            "P10 another length",
            206,
            part("bytes 1-10/11", sameWeak),
            .ask(.whole(because: .resourceChanged)),
            with: overlapping(weak)
        ),
        Row(
            "P10 a length that is not said",
            206,
            part("bytes 1-9/*", sameWeak),
            .ask(.whole(because: .resourceChanged)),
            with: overlapping(weak)
        ),
        Row(
            "P11 a weak date",
            206,
            part("bytes 1-9/10", ["Last-Modified": modified]),
            .compare(from: 1, total: 10, isProven: false),
            with: overlapping(["Last-Modified": modified, "Content-Length": "10"])
        ),
        Row(
            "P12 nothing",
            206,
            part("bytes 1-9/10", [:]),
            .compare(from: 1, total: 10, isProven: false),
            with: overlapping(["Content-Length": "10"])
        ),
        Row(
            "P12 a tag appears",
            206,
            part("bytes 1-9/10"),
            .ask(.whole(because: .resourceChanged)),
            with: overlapping(["Content-Length": "10"])
        ),
        Row(
            "P12 from another byte",
            206,
            part("bytes 2-9/10", [:]),
            .ask(.whole(because: .validatorMissing)),
            with: overlapping(["Content-Length": "10"])
        ),
        Row(
            "P12 not as far as the file",
            206,
            part("bytes 1-2/10", [:]),
            .ask(.whole(because: .validatorMissing)),
            with: overlapping(["Content-Length": "10"])
        ),
        Row(
            "P12 ignored",
            200,
            ["Content-Length": "10"],
            .replace(total: 10, because: .validatorMissing),
            with: overlapping(["Content-Length": "10"])
        ),
        Row("S33", 412, [:], .ask(.whole(because: .resourceChanged)), with: overlapping(weak, modified)),
        Row("412 to a condition of the caller's", 412, [:], .deliver, with: overlapping(weak)),
        Row("S32 of an overlap", 204, [:], .fail(.unexpectedStatus(204)), with: overlapping(weak)),
        Row("S31 of an overlap", 304, [:], .ask(.whole(because: .invalidResponse)), with: overlapping(weak)),
        Row(
            "S36 of an overlap",
            416,
            part("bytes */1", [:]),
            .ask(.whole(because: .resourceChanged)),
            with: overlapping(weak)
        ),
    ]

    // MARK: - Confirmations

    private static func confirming(_ change: @escaping Change = { _ in }) -> Change {
        inFile { row in
            row.asked = .confirmation
            change(&row)
        }
    }

    static let confirmations = [
        Row(
            "S34, S35 confirmed",
            200,
            ["ETag": "\"v1\"", "Content-Length": "4"],
            .alreadyComplete,
            with: confirming()
        ),
        Row(
            "S35 another tag",
            200,
            ["ETag": "\"v2\"", "Content-Length": "4"],
            .ask(.whole(because: .rangeNotSatisfiable)),
            with: confirming()
        ),
        Row(
            "S35 no tag",
            200,
            ["Content-Length": "4"],
            .ask(.whole(because: .rangeNotSatisfiable)),
            with: confirming()
        ),
        Row(
            "S35 another length",
            200,
            ["ETag": "\"v1\"", "Content-Length": "5"],
            .ask(.whole(because: .rangeNotSatisfiable)),
            with: confirming()
        ),
        Row(
            "S35 no length",
            200,
            ["ETag": "\"v1\""],
            .ask(.whole(because: .rangeNotSatisfiable)),
            with: confirming()
        ),
        Row(
            "S35 coded",
            200,
            ["ETag": "\"v1\"", "Content-Length": "4", "Content-Encoding": "gzip"],
            .ask(.whole(because: .rangeNotSatisfiable)),
            with: confirming()
        ),
        Row("S35 no HEAD here", 405, [:], .ask(.whole(because: .rangeNotSatisfiable)), with: confirming()),
        Row("S35 HEAD unknown", 501, [:], .ask(.whole(because: .rangeNotSatisfiable)), with: confirming()),
        Row("S35 later perhaps", 503, [:], .deliver, with: confirming()),
        Row("S35 gone", 404, [:], .ask(.whole(because: .rangeNotSatisfiable)), with: confirming()),
        Row(
            "S34 without a validator, into a stream",
            200,
            ["Content-Length": "4"],
            .fail(.rangeNotSatisfiable(requested: 4, total: 4)),
            with: confirming { row in
                row.first = ["Content-Length": "10"]
                row.abilities = SinkAbilities(canBeEmptied: false)
            }
        ),
    ]

    @Test(arguments: ranges + ignoredRanges)
    func triesWhatMayHelp(row: Row) { check(row) }

    @Test(arguments: overlaps)
    func comparesOnlyWhatMayBeEqual(row: Row) { check(row) }

    @Test(arguments: confirmations)
    func takesNothingButAProofForConfirmation(row: Row) { check(row) }

    private func check(_ row: Row) {
        #expect(row.actual == row.decision, "\(row.testDescription)")
    }
}
