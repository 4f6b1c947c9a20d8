import FoundationNetworking
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// S12, a 206 without the validator: every row is one response to a question about ten bytes, of which four are there, in
/// memory, a file or a stream that can give back the last of them.
@Suite struct UnnamedPartTests {
    typealias Row = ResumeDecisionTests.Row
    typealias Change = @Sendable (inout Row) -> Void

    private static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let later = "Sun, 06 Nov 1994 08:49:47 GMT"

    private static let kept: Change = { $0.abilities = SinkAbilities(canBeEmptied: true, keptCount: 4) }
    private static let stream: Change = { $0.abilities = SinkAbilities(canBeEmptied: false, keptCount: 4) }
    private static let readBack: Change = {
        $0.abilities = SinkAbilities(canBeEmptied: true, canCompare: true)
    }
    private static let dated: Change = { row in
        kept(&row)
        row.first = ["Last-Modified": modified, "Date": later, "Content-Length": "10"]
        row.asked = .rest(from: 4, ifRange: modified)
    }

    /// The last three bytes are asked for, too.
    private static func overlapping(_ change: @escaping Change = kept) -> Change {
        { row in
            change(&row)
            row.asked = .rest(from: 4, ifRange: "\"v1\"", overlap: 3)
        }
    }

    private static func part(_ range: String, _ others: HeaderFields = [:]) -> HeaderFields {
        others.adding("Content-Range", range)
    }

    static let rests = [
        Row("no tag", 206, part("bytes 4-9/10"), .ask(.overlap), with: kept),
        Row("no tag, into a stream", 206, part("bytes 4-9/10"), .ask(.overlap), with: stream),
        Row(
            "no tag, into a file that can be read",
            206,
            part("bytes 4-9/10"),
            .ask(.overlap),
            with: readBack
        ),
        Row("no date", 206, part("bytes 4-9/10"), .ask(.overlap), with: dated),
        Row(
            "the date, and not the tag",
            206,
            part("bytes 4-9/10", ["Last-Modified": modified]),
            .ask(.overlap),
            with: { row in
                kept(&row)
                row.first = ["ETag": "\"v1\"", "Last-Modified": modified, "Content-Length": "10"]
            }
        ),
        Row("too few bytes are kept", 206, part("bytes 4-9/10"), .ask(.whole(because: .validatorMissing))) {
            $0.abilities = SinkAbilities(canBeEmptied: true, keptCount: 3)
        },
        Row(
            "a stream that keeps none, and no validator",
            206,
            part("bytes 4-9/10"),
            .fail(.representationChanged)
        ) {
            $0.abilities = SinkAbilities(canBeEmptied: false)
            $0.first = ["Content-Length": "10"]
        },
        Row("S5 before", 206, part("bytes 4-10/11"), .ask(.whole(because: .resourceChanged)), with: kept),
        Row(
            "S11 before",
            206,
            part("bytes 4-9/10", ["ETag": "\"v2\""]),
            .ask(.whole(because: .resourceChanged)),
            with: kept
        ),
    ]

    static let elsewhere = [
        Row("S1 the tag", 206, part("bytes 4-9/10", ["ETag": "\"v1\""]), .append(total: 10)) {
            kept(&$0)
            $0.isElsewhere = true
        },
        Row("no tag", 206, part("bytes 4-9/10"), .ask(.overlap)) {
            kept(&$0)
            $0.isElsewhere = true
        },
        Row("a date says nothing", 206, part("bytes 4-9/10", ["Last-Modified": modified]), .ask(.overlap)) {
            dated(&$0)
            $0.isElsewhere = true
        },
        Row(
            "another date",
            206,
            part("bytes 4-9/10", ["Last-Modified": later]),
            .ask(.whole(because: .resourceChanged))
        ) {
            dated(&$0)
            $0.isElsewhere = true
        },
        Row(
            "a whole with the same date",
            200,
            ["Last-Modified": modified, "Content-Length": "10"],
            .fail(.representationChanged)
        ) {
            dated(&$0)
            $0.abilities = SinkAbilities(canBeEmptied: false, keptCount: 4)
            $0.isElsewhere = true
        },
        Row(
            "S23 just the length that is there, and the same date",
            200,
            ["Last-Modified": modified, "Content-Length": "4"],
            .ask(.whole(because: .invalidResponse))
        ) {
            dated(&$0)
            $0.first = ["Last-Modified": modified, "Date": later]
            $0.isElsewhere = true
        },
    ]

    static let overlaps = [
        Row(
            "compared",
            206,
            part("bytes 1-9/10"),
            .compare(from: 1, total: 10, isProven: false),
            with: overlapping()
        ),
        Row(
            "compared in a stream",
            206,
            part("bytes 1-9/10"),
            .compare(from: 1, total: 10, isProven: false),
            with: overlapping(stream)
        ),
        Row(
            "compared in a file",
            206,
            part("bytes 1-9/10"),
            .compare(from: 1, total: 10, isProven: false),
            with: overlapping(readBack)
        ),
        Row(
            "the tag, now",
            206,
            part("bytes 1-9/10", ["ETag": "\"v1\""]),
            .compare(from: 1, total: 10),
            with: overlapping()
        ),
        Row(
            "the tag, now, and no overlap",
            206,
            part("bytes 4-9/10", ["ETag": "\"v1\""]),
            .append(total: 10),
            with: overlapping()
        ),
        Row(
            "another tag, now",
            206,
            part("bytes 1-9/10", ["ETag": "\"v2\""]),
            .ask(.whole(because: .resourceChanged)),
            with: overlapping()
        ),
        Row(
            "another total",
            206,
            part("bytes 1-9/11"),
            .ask(.whole(because: .resourceChanged)),
            with: overlapping()
        ),
        Row(
            "no total",
            206,
            part("bytes 1-9/*"),
            .ask(.whole(because: .invalidResponse)),
            with: overlapping()
        ),
        Row("S3 a gap in it", 206, part("bytes 2-9/10"), .ask(.same), with: overlapping()),
        Row("S3 again", 206, part("bytes 2-9/10"), .ask(.whole(because: .invalidResponse))) {
            overlapping()(&$0)
            $0.history.hasRepeated = true
        },
        Row("S2 more than is kept", 206, part("bytes 0-9/10"), .ask(.whole(because: .invalidResponse))) {
            overlapping()(&$0)
            $0.abilities.keptCount = 3
        },
        Row(
            "S2 more",
            206,
            part("bytes 0-9/10"),
            .compare(from: 0, total: 10, isProven: false),
            with: overlapping()
        ),
        Row(
            "S4 as far as the file",
            206,
            part("bytes 1-3/10").adding("Content-Length", "3"),
            .compare(from: 1, total: 10, isProven: false),
            with: overlapping()
        ),
        Row(
            "S4 not as far",
            206,
            part("bytes 1-2/10").adding("Content-Length", "2"),
            .ask(.whole(because: .invalidResponse)),
            with: overlapping()
        ),
        Row("S7", 206, [:], .ask(.whole(because: .invalidResponse)), with: overlapping()),
        Row(
            "S15 another type",
            206,
            part("bytes 1-9/10", ["Content-Type": "text/html"]),
            .ask(.whole(because: .variantChanged))
        ) {
            overlapping()(&$0)
            $0.first["Content-Type"] = "application/zip"
        },
        Row(
            "S20",
            200,
            ["ETag": "\"v2\"", "Content-Length": "10"],
            .replace(total: 10, because: .resourceChanged),
            with: overlapping()
        ),
        Row("S21", 200, ["ETag": "\"v1\"", "Content-Length": "10"], .ask(.plainRest), with: overlapping()),
        Row("S36", 416, part("bytes */3"), .ask(.whole(because: .resourceChanged)), with: overlapping()),
    ]

    @Test(arguments: rests)
    func aPartWithoutItsValidatorIsNotTrusted(row: Row) { check(row) }

    @Test(arguments: elsewhere)
    func elsewhereOnlyATagProvesEquality(row: Row) { check(row) }

    @Test(arguments: overlaps)
    func theOverlapIsCompared(row: Row) { check(row) }

    private func check(_ row: Row) {
        #expect(row.actual == row.decision, "\(row.testDescription)")
    }

    // MARK: - What is asked

    @Test(arguments: [(5, 5), (65_536, 65_536), (100_000, 65_536)] as [(Int64, Int64)])
    func theOverlapIsAsLongAsItMayBeAndStaysAsked(held: Int64, overlap: Int64) throws {
        let request = try Sample.request()
        var resumption = Resumption(isAllowed: true)
        resumption.take(
            PartialContent(
                fields: ["ETag": "\"v1\"", "Content-Length": "200000"],
                offset: held,
                url: "http://a/"
            )
        )
        _ = resumption.ask(request, held: StoredBytes(count: held))
        let abilities = SinkAbilities(canBeEmptied: true, canCompare: true)
        let part: HeaderFields = ["Content-Range": "bytes \(held)-199999/200000"]
        let head = ResponseHead(version: "HTTP/1.1", status: 206, fields: part)
        #expect(
            resumption.judge(head, from: "http://b/", held: StoredBytes(count: held), abilities: abilities)
                == .ask(.overlap)
        )
        let asked = resumption.ask(request, held: StoredBytes(count: held))
        #expect(asked == .rest(from: held, ifRange: "\"v1\"", overlap: overlap))
        #expect(asked.fields["Range"] == "bytes=\(held - overlap)-")
        #expect(asked.fields["If-Range"] == "\"v1\"")
        // A later part comes without it, too: it is not asked for in vain.
        let again: HeaderFields = ["Content-Range": "bytes \(held - overlap)-199999/200000"]
        let answer = ResponseHead(version: "HTTP/1.1", status: 206, fields: again)
        #expect(
            resumption.judge(answer, from: "http://b/", held: StoredBytes(count: held), abilities: abilities)
                == .compare(from: held - overlap, total: 200_000, isProven: false)
        )
        #expect(
            resumption.ask(request, held: StoredBytes(count: 150_000))
                == .rest(from: 150_000, ifRange: "\"v1\"", overlap: 65_536)
        )
    }

    // MARK: - Short answers

    @Test(
        arguments: [
            (10, 1), (63, 1), (6400, 100), (600_000, 9375), (1 << 20, 16384), (1 << 40, 16384), (nil, 256),
        ]
            as [(Int64?, Int64)]
    )
    func whatIsSensibleDependsOnTheLength(total: Int64?, count: Int64) {
        #expect(ShortAnswers.sensibleCount(of: total) == count)
    }

    @Test func threeAttemptsWithoutNewBytesAreEnough() {
        var answers = ShortAnswers()
        let counts: [Int64] = [0, 9374, 9375, 1, 1, 9374, 1, 1, 1]
        let gaveUp = counts.map { answers.note($0, of: 600_000) }
        #expect(gaveUp == [false, false, false, false, false, true, false, false, true])
    }
}
