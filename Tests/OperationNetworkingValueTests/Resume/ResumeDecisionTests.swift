import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Every row is one response to a question about ten bytes, `"v1"`, of which four are there.
@Suite struct ResumeDecisionTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var first: HeaderFields = ["ETag": "\"v1\"", "Content-Length": "10"]
        var offset: Int64 = 4
        var asked = ResumeRequest.rest(from: 4, ifRange: "\"v1\"")
        var abilities = SinkAbilities(canBeEmptied: true)
        var history = ResumeDecision.History()
        var isElsewhere = false
        var isDowngrade = false
        var comparesUnproven = false
        let status: Int
        let fields: HeaderFields
        let decision: ResumeDecision

        init(
            _ name: String,
            _ status: Int,
            _ fields: HeaderFields,
            _ decision: ResumeDecision,
            with change: @Sendable (inout Row) -> Void = { _ in }
        ) {
            testDescription = name
            self.status = status
            self.fields = fields
            self.decision = decision
            change(&self)
        }
    }

    private static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let later = "Sun, 06 Nov 1994 08:49:47 GMT"

    private static let dated: @Sendable (inout Row) -> Void = { row in
        row.first = ["Last-Modified": modified, "Date": later, "Content-Length": "10"]
        row.asked = .rest(from: 4, ifRange: modified)
    }
    private static let datedUnrewindable: @Sendable (inout Row) -> Void = { row in
        dated(&row)
        row.abilities.canBeEmptied = false
        row.asked = .rest(from: 4, ifRange: nil)
        row.history.hasAskedPlainly = true
    }
    private static let ofUnknownLength: @Sendable (inout Row) -> Void = { $0.first = ["ETag": "\"v1\""] }
    private static let unrewindableAndAskedPlainly: @Sendable (inout Row) -> Void = { row in
        unrewindable(&row)
        row.asked = .rest(from: 4, ifRange: nil)
        row.history.hasAskedPlainly = true
    }
    private static let unrewindable: @Sendable (inout Row) -> Void = { $0.abilities.canBeEmptied = false }
    private static let refusedBefore: @Sendable (inout Row) -> Void = { $0.history.wasRefused = true }
    private static let withoutIfRange: @Sendable (inout Row) -> Void = {
        $0.asked = .rest(from: 4, ifRange: nil)
    }
    private static let askedForWhole: @Sendable (inout Row) -> Void = { $0.asked = .whole }
    private static let askedForWholeWithoutValidator: @Sendable (inout Row) -> Void = { row in
        row.first = ["Content-Length": "10"]
        row.asked = .whole
    }
    private static let allThere: @Sendable (inout Row) -> Void = { row in
        row.offset = 10
        row.asked = .rest(from: 10, ifRange: "\"v1\"")
    }
    private static let nothingThere: @Sendable (inout Row) -> Void = { row in
        row.offset = 0
        row.asked = .whole
    }

    private static let good: HeaderFields = [
        "ETag": "\"v1\"", "Content-Range": "bytes 4-9/10", "Content-Length": "6",
    ]

    private static func part(_ contentRange: String, _ others: HeaderFields = ["ETag": "\"v1\""])
        -> HeaderFields
    {
        var fields = others
        fields["Content-Range"] = contentRange
        return fields
    }

    private static let page: HeaderFields = ["Content-Type": "text/html", "Content-Length": "62"]

    private static func sign(_ length: Int64) -> ResumeDecision {
        .wait(or: .unexpectedContent(mediaType: "text/html", length: length, expected: 10))
    }

    private static let datedTag: @Sendable (inout Row) -> Void = {
        $0.first = ["ETag": "\"v1\"", "Last-Modified": modified, "Content-Length": "10"]
    }

    /// Another tag, and the same date.
    private static func otherTag(_ contentRange: String?) -> HeaderFields {
        var fields: HeaderFields = ["ETag": "\"v2\"", "Last-Modified": modified]
        if let contentRange {
            fields["Content-Range"] = contentRange
        } else {
            fields["Content-Length"] = "10"
        }
        return fields
    }

    // MARK: - 206

    static let partialContent = [
        Row("S1", 206, good, .append(total: 10)),
        Row("S1 length unknown before", 206, part("bytes 4-9/10"), .append(total: 10), with: ofUnknownLength),
        Row(
            "S1 strong date",
            206,
            part("bytes 4-9/10", ["Last-Modified": modified]),
            .append(total: 10),
            with: dated
        ),
        Row("S1 into a stream", 206, good, .append(total: 10), with: unrewindable),
        Row("S2", 206, part("bytes 2-9/10"), .ask(.whole(because: .invalidResponse))),
        Row("S3", 206, part("bytes 6-9/10"), .ask(.same)),
        Row("S3 into a stream", 206, part("bytes 6-9/10"), .ask(.same), with: unrewindable),
        Row("S4", 206, part("bytes 4-6/10").adding("Content-Length", "3"), .append(total: 10)),
        Row(
            "S4 without a length of its own",
            206,
            part("bytes 4-6/10"),
            .ask(.whole(because: .invalidResponse))
        ),
        Row("S5 longer", 206, part("bytes 4-10/11"), .ask(.whole(because: .resourceChanged))),
        Row("S5 shorter", 206, part("bytes 4-8/9"), .ask(.whole(because: .resourceChanged))),
        Row(
            "S5 into a stream",
            206,
            part("bytes 4-10/11"),
            .fail(.representationChanged),
            with: unrewindable
        ),
        Row("S6", 206, part("bytes 4-9/*"), .append(total: 10)),
        Row(
            "S6 without a validator in the answer",
            206,
            part("bytes 4-9/*", [:]),
            .ask(.whole(because: .validatorMissing))
        ),
        Row(
            "S6 length unknown",
            206,
            part("bytes 4-9/*"),
            .ask(.whole(because: .invalidResponse)),
            with: ofUnknownLength
        ),
        Row("S6 beyond the length", 206, part("bytes 4-10/*"), .ask(.whole(because: .resourceChanged))),
        Row("S7", 206, ["ETag": "\"v1\"", "Content-Length": "6"], .ask(.whole(because: .invalidResponse))),
        Row(
            "S7 two of them",
            206,
            good.adding("Content-Range", "bytes 4-9/10"),
            .ask(.whole(because: .invalidResponse))
        ),
        Row(
            "S8",
            206,
            good.adding("Content-Type", "multipart/ByteRanges; boundary=b"),
            .ask(.whole(because: .invalidResponse))
        ),
        Row("S9", 206, part("items 4-9/10"), .ask(.whole(because: .invalidResponse))),
        Row("S10 end before start", 206, part("bytes 9-4/10"), .ask(.whole(because: .invalidResponse))),
        Row("S10 end behind the total", 206, part("bytes 4-10/10"), .ask(.whole(because: .invalidResponse))),
        Row("S10 no number", 206, part("bytes four-9/10"), .ask(.whole(because: .invalidResponse))),
        Row(
            "S10 too large",
            206,
            part("bytes 4-9223372036854775808/*"),
            .ask(.whole(because: .invalidResponse))
        ),
        Row("S10 unsatisfied", 206, part("bytes */10"), .ask(.whole(because: .invalidResponse))),
        Row("S11", 206, part("bytes 4-9/10", ["ETag": "\"v2\""]), .ask(.whole(because: .resourceChanged))),
        Row(
            "S11 weak",
            206,
            part("bytes 4-9/10", ["ETag": "W/\"v1\""]),
            .ask(.whole(because: .resourceChanged))
        ),
        Row("S11 two tags", 206, good.adding("ETag", "\"v2\""), .ask(.whole(because: .resourceChanged))),
        Row(
            "S11 date",
            206,
            part("bytes 4-9/10", ["Last-Modified": later]),
            .ask(.whole(because: .resourceChanged)),
            with: dated
        ),
        Row(
            "S11 into a stream",
            206,
            part("bytes 4-9/10", ["ETag": "\"v2\""]),
            .fail(.representationChanged),
            with: unrewindable
        ),
        Row(
            "S11 date although the tag is not repeated",
            206,
            part("bytes 4-9/10", ["Last-Modified": later]),
            .ask(.whole(because: .resourceChanged)),
            with: { $0.first = ["ETag": "\"v1\"", "Last-Modified": modified, "Content-Length": "10"] }
        ),
        Row("S12", 206, part("bytes 4-9/10", [:]), .ask(.whole(because: .validatorMissing))),
        Row(
            "S12 a date",
            206,
            part("bytes 4-9/10", [:]),
            .ask(.whole(because: .validatorMissing)),
            with: dated
        ),
        Row(
            "S12 without If-Range",
            206,
            part("bytes 4-9/10", [:]),
            .ask(.whole(because: .validatorMissing)),
            with: withoutIfRange
        ),
        Row("S13", 206, good.adding("Content-Encoding", "gzip"), .ask(.whole(because: .contentCoded))),
        Row("S13 identity", 206, good.adding("Content-Encoding", "identity"), .append(total: 10)),
        Row("S14 short", 206, part("bytes 4-9/10").adding("Content-Length", "5"), .ask(.same)),
        Row("S14 long", 206, part("bytes 4-9/10").adding("Content-Length", "10"), .ask(.same)),
        Row("S14 no number", 206, part("bytes 4-9/10").adding("Content-Length", "six"), .ask(.same)),
        Row("S15 with an equal tag", 206, good.adding("Content-Type", "text/html"), .append(total: 10)),
        Row(
            "S15",
            206,
            part("bytes 4-9/10", ["Content-Type": "text/html"]),
            .ask(.whole(because: .variantChanged)),
            with: { $0.first["Content-Type"] = "application/zip" }
        ),
        Row("S16", 206, good, .fail(.unrequestedPartialContent), with: askedForWhole),
        Row(
            "S16 at the start",
            206,
            part("bytes 0-9/10"),
            .fail(.unrequestedPartialContent),
            with: nothingThere
        ),
        Row(
            "a Range of the caller's",
            206,
            good,
            .replace(total: 6, because: .ownRange),
            with: { $0.asked = .ownRange(RangeRequest(fieldValue: "bytes=4-")) }
        ),
        Row(
            "a Range of the caller's, into a stream",
            206,
            good,
            .fail(.representationChanged),
            with: { row in
                row.asked = .ownRange(RangeRequest(fieldValue: "bytes=4-"))
                row.abilities.canBeEmptied = false
            }
        ),
        Row(
            "a Range of the caller's, and another part",
            206,
            part("bytes 3-9/10"),
            .fail(.rangeMismatch(requested: "bytes=4-", received: "bytes 3-9/10")),
            with: { $0.asked = .ownRange(RangeRequest(fieldValue: "bytes=4-")) }
        ),
        Row(
            "a Range of the caller's, ignored",
            200,
            ["Content-Length": "10"],
            .replace(total: 10, because: nil),
            with: { row in
                row.asked = .ownRange(RangeRequest(fieldValue: "bytes=4-"))
                row.offset = 0
            }
        ),
        Row(
            "a Range of the caller's with HEAD",
            206,
            part("bytes 3-9/10"),
            .replace(total: nil, because: nil),
            with: { row in
                row.asked = .ownRange(nil)
                row.offset = 0
            }
        ),
        Row(
            "a Range of the caller's, into a stream that has nothing yet",
            206,
            good,
            .replace(total: 6, because: nil),
            with: { row in
                row.asked = .ownRange(RangeRequest(fieldValue: "bytes=4-"))
                row.abilities.canBeEmptied = false
                row.offset = 0
            }
        ),
    ]

    // MARK: - 200

    static let whole = [
        Row(
            "first answer",
            200,
            ["Content-Length": "10"],
            .replace(total: 10, because: nil),
            with: nothingThere
        ),
        Row(
            "first answer, coded",
            200,
            ["Content-Length": "10", "Content-Encoding": "br"],
            .replace(total: nil, because: nil),
            with: nothingThere
        ),
        Row(
            "first answer, created",
            201,
            ["Content-Length": "10"],
            .replace(total: 10, because: nil),
            with: nothingThere
        ),
        Row("first answer, empty", 204, [:], .replace(total: nil, because: nil), with: nothingThere),
        Row(
            "S20, F2 another tag",
            200,
            ["ETag": "\"v2\"", "Content-Length": "10"],
            .replace(total: 10, because: .resourceChanged)
        ),
        Row("S20, F2 no tag", 200, ["Content-Length": "10"], .replace(total: 10, because: .validatorMissing)),
        Row(
            "S20 into a stream",
            200,
            ["ETag": "\"v2\"", "Content-Length": "10"],
            .fail(.representationChanged),
            with: unrewindable
        ),
        Row(
            "S20 no tag, into a stream",
            200,
            ["Content-Length": "10"],
            .fail(.representationChanged),
            with: unrewindable
        ),
        Row("S21", 200, ["ETag": "\"v1\"", "Content-Length": "10"], .ask(.plainRest)),
        Row(
            "S21 into a stream",
            200,
            ["ETag": "\"v1\"", "Content-Length": "10"],
            .skip(count: 4, total: 10),
            with: unrewindableAndAskedPlainly
        ),
        Row(
            "S21 chunked, into a stream, to a question for the whole",
            200,
            ["ETag": "\"v1\""],
            .skip(count: 4, total: 10),
            with: {
                unrewindable(&$0)
                askedForWhole(&$0)
            }
        ),
        Row(
            "S21 date, into a stream",
            200,
            ["Last-Modified": modified, "Content-Length": "10"],
            .skip(count: 4, total: 10),
            with: datedUnrewindable
        ),
        Row(
            "S21 weak tag, into a stream",
            200,
            ["ETag": "W/\"v1\"", "Content-Length": "10"],
            .fail(.representationChanged),
            with: unrewindable
        ),
        Row(
            "S21 another length, into a stream",
            200,
            ["ETag": "\"v1\"", "Content-Length": "11"],
            .ask(.whole(because: .invalidResponse)),
            with: unrewindable
        ),
        Row(
            "S21 shorter than what is there",
            200,
            ["ETag": "\"v1\"", "Content-Length": "3"],
            .ask(.whole(because: .invalidResponse)),
            with: {
                ofUnknownLength(&$0)
                unrewindable(&$0)
            }
        ),
        Row(
            "S21 coded, into a stream",
            200,
            ["ETag": "\"v1\"", "Content-Encoding": "gzip"],
            .ask(.whole(because: .invalidResponse)),
            with: unrewindable
        ),
        Row(
            "S21 coded, into a stream, to a question for the whole",
            200,
            ["ETag": "\"v1\"", "Content-Encoding": "gzip"],
            .fail(.representationChanged),
            with: {
                unrewindable(&$0)
                askedForWhole(&$0)
            }
        ),
        Row(
            "S21 after a restart, into a stream",
            200,
            ["ETag": "\"v1\"", "Content-Length": "10"],
            .skip(count: 4, total: 10),
            with: {
                askedForWhole(&$0)
                unrewindable(&$0)
            }
        ),
        Row(
            "S22",
            200,
            ["ETag": "\"v1\"", "Content-Length": "10"],
            .replace(total: 10, because: .validatorMissing),
            with: askedForWholeWithoutValidator
        ),
        Row(
            "S22 into a stream",
            200,
            ["Content-Length": "10"],
            .fail(.representationChanged),
            with: {
                askedForWholeWithoutValidator(&$0)
                unrewindable(&$0)
            }
        ),
        Row(
            "S23",
            200,
            ["ETag": "\"v1\"", "Content-Length": "4"],
            .ask(.confirmation),
            with: ofUnknownLength
        ),
        Row(
            "S23 to a question for the whole",
            200,
            ["ETag": "\"v1\"", "Content-Length": "4"],
            .alreadyComplete,
            with: {
                ofUnknownLength(&$0)
                askedForWhole(&$0)
            }
        ),
        Row(
            "S28 another length before",
            200,
            ["ETag": "\"v1\"", "Content-Length": "4"],
            .ask(.whole(because: .invalidResponse))
        ),
        Row(
            "S23 no tag",
            200,
            ["Content-Length": "4"],
            .ask(.whole(because: .invalidResponse)),
            with: ofUnknownLength
        ),
    ]

    // MARK: - A rest that is sent as 200

    private static let again = ResumeDecision.ask(.whole(because: .invalidResponse))
    private static let changed = ResumeDecision.ask(.whole(because: .resourceChanged))
    private static let overlapping: @Sendable (inout Row) -> Void = {
        $0.asked = .rest(from: 4, ifRange: "\"v1\"", overlap: 3)
    }

    static let restsInDisguise = [
        Row("S28 the same tag", 200, ["ETag": "\"v1\"", "Content-Length": "6"], again),
        Row("S28 203", 203, ["ETag": "\"v1\"", "Content-Length": "6"], again),
        Row("S28 no tag", 200, ["Content-Length": "6"], again),
        Row("S28 a tag of what was sent", 200, ["ETag": "\"v2\"", "Content-Length": "6"], changed),
        Row("S28 the same, and less", 200, ["ETag": "\"v2\"", "Content-Length": "5"], changed),
        Row("S28 the same, of a file that grew", 200, ["ETag": "\"v2\"", "Content-Length": "11"], changed),
        Row("S28 into a stream", 200, ["ETag": "\"v1\"", "Content-Length": "6"], again, with: unrewindable),
        Row(
            "S28 to the question without If-Range",
            200,
            ["ETag": "\"v1\"", "Content-Length": "6"],
            again,
            with: withoutIfRange
        ),
        Row("S28 with an overlap", 200, ["Content-Length": "9"], again, with: overlapping),
        Row(
            "S28 with an overlap, of another length",
            200,
            ["ETag": "\"v2\"", "Content-Length": "6"],
            changed,
            with: overlapping
        ),
        Row("S28 the date", 200, ["Last-Modified": modified, "Content-Length": "6"], again, with: dated),
        Row(
            "S28 less than there is, of unknown length",
            200,
            ["ETag": "\"v1\"", "Content-Length": "3"],
            again,
            with: ofUnknownLength
        ),
        Row("S28 no length and no tag", 200, [:], again),
        Row(
            "S28 no length and no tag, into a stream",
            200,
            [:],
            again,
            with: unrewindable
        ),
        Row("S28 no length, a tag of what was sent", 200, ["ETag": "\"v2\""], changed),
        Row("S28 nothing of the file", 200, ["Content-Length": "0"], again),
        Row("S28 a word of excuse", 200, ["Content-Length": "9", "Content-Type": "text/html"], again),
        Row("S28 of unknown length", 200, ["Content-Length": "6"], again, with: ofUnknownLength),
        Row(
            "S28 of unknown length, a tag of what was sent",
            200,
            ["ETag": "\"v2\"", "Content-Length": "6"],
            changed,
            with: ofUnknownLength
        ),
        Row("S28 no length at all", 200, ["ETag": "\"v2\""], changed, with: ofUnknownLength),
        Row(
            "S28 of unknown length, the same tag, for a file that would be compared",
            200,
            ["ETag": "\"v1\"", "Content-Length": "6"],
            .ask(.whole(because: .rangeIgnored)),
            with: {
                ofUnknownLength(&$0)
                withoutIfRange(&$0)
                $0.history.hasAskedPlainly = true
                $0.abilities.canCompare = true
            }
        ),
        Row(
            "S28 no length, the same tag, into a stream that would skip",
            200,
            ["ETag": "\"v1\""],
            .ask(.whole(because: .rangeIgnored)),
            with: {
                withoutIfRange(&$0)
                $0.history.hasAskedPlainly = true
                unrewindable(&$0)
            }
        ),
        Row(
            "S28 another file, to a question for the whole",
            200,
            ["ETag": "\"v2\"", "Content-Length": "7"],
            .replace(total: 7, because: .resourceChanged),
            with: askedForWhole
        ),
        Row(
            "S28 no length, the same tag, in memory",
            200,
            ["ETag": "\"v1\""],
            .ask(.whole(because: .rangeIgnored)),
            with: {
                withoutIfRange(&$0)
                $0.history.hasAskedPlainly = true
            }
        ),
        Row(
            "S28 again, of a cache",
            200,
            ["ETag": "\"v1\"", "Content-Length": "6"],
            .fail(
                .rangeMismatch(
                    requested: "the whole",
                    received: "only the rest, with a status other than 206"
                )
            ),
            with: askedForWhole
        ),
        Row(
            "S28 the whole, which is as long as the rest was, with another tag",
            200,
            ["ETag": "\"v2\"", "Content-Length": "6"],
            .replace(total: 6, because: .resourceChanged),
            with: askedForWhole
        ),
        Row(
            "S28 a coding, whose length says nothing",
            200,
            ["ETag": "\"v2\"", "Content-Encoding": "gzip", "Content-Length": "10"],
            changed
        ),
    ]

    @Test(arguments: restsInDisguise)
    func aRestIsNotTakenForTheWhole(row: Row) { check(row) }

    // MARK: - Everything else

    static let others = [
        Row("S31", 304, ["ETag": "\"v1\""], .ask(.whole(because: .invalidResponse))),
        Row("S31 again", 304, ["ETag": "\"v1\""], .deliver, with: askedForWhole),
        Row("S32 204", 204, [:], .fail(.unexpectedStatus(204))),
        Row("S32 226", 226, ["Content-Length": "10"], .fail(.unexpectedStatus(226))),
        Row("S32 299 without a length", 299, [:], .fail(.unexpectedStatus(299))),
        Row("299 as 200", 299, ["Content-Length": "10"], .replace(total: 10, because: .validatorMissing)),
        Row("S32 201", 201, ["Content-Length": "10"], .fail(.unexpectedStatus(201))),
        Row(
            "201 to a POST sent again",
            201,
            ["Content-Length": "9"],
            .replace(total: 9, because: .validatorMissing),
            with: askedForWhole
        ),
        Row("S32 205 after a restart", 205, [:], .fail(.unexpectedStatus(205)), with: askedForWhole),
        Row("S34, F3", 416, part("bytes */10"), .alreadyComplete, with: allThere),
        Row("S34 no tag", 416, part("bytes */10", [:]), .ask(.confirmation), with: allThere),
        Row("S35", 416, part("bytes */4"), .alreadyComplete, with: ofUnknownLength),
        Row("S35 no tag", 416, part("bytes */4", [:]), .ask(.confirmation), with: ofUnknownLength),
        Row(
            "S35 another tag",
            416,
            part("bytes */4", ["ETag": "\"v2\""]),
            .ask(.confirmation),
            with: ofUnknownLength
        ),
        Row("S35 bytes differed", 416, part("bytes */4"), .ask(.confirmation)) {
            ofUnknownLength(&$0)
            $0.history.hasFoundDifference = true
        },
        Row("S35 a date", 416, part("bytes */4", ["Last-Modified": modified]), .ask(.confirmation)) {
            dated(&$0)
            $0.first["Content-Length"] = nil
        },
        Row("S11 another tag alone", 206, otherTag("bytes 4-9/10"), .ask(.whole(because: .entityTagChanged)))
        {
            datedTag(&$0)
        },
        Row("S11 another tag alone, compared", 206, otherTag("bytes 4-9/10"), .ask(.comparison)) {
            datedTag(&$0)
            $0.comparesUnproven = true
        },
        Row("S11 a whole with another tag alone, compared", 200, otherTag(nil), .ask(.comparison)) {
            datedTag(&$0)
            $0.comparesUnproven = true
        },
        Row("S11 another length too", 206, otherTag("bytes 4-10/11"), .ask(.whole(because: .resourceChanged)))
        {
            datedTag(&$0)
            $0.comparesUnproven = true
        },
        Row(
            "S11 the overlap of that",
            206,
            otherTag("bytes 1-9/10"),
            .compare(from: 1, total: 10, isProven: false)
        ) {
            datedTag(&$0)
            $0.comparesUnproven = true
            $0.abilities.canCompare = true
            $0.asked = .overlap(from: 1, to: 4, ifUnmodifiedSince: nil)
        },
        Row("S27 a page for the rest", 200, page, sign(62)) { $0.abilities.keepsUntilWhole = true },
        Row("S27 a page for the whole", 200, page, sign(62)) {
            askedForWhole(&$0)
            $0.abilities.keepsUntilWhole = true
        },
        Row(
            "S28 the rest as 200, no validator",
            200,
            ["Content-Length": "6"],
            .ask(.whole(because: .invalidResponse))
        ) {
            $0.offset = 7
            $0.asked = .rest(from: 4, ifRange: "\"v1\"")
            $0.abilities.keepsUntilWhole = true
        },
        Row("P19 a rest without TLS", 206, part("bytes 4-9/10"), .ask(.whole(because: .verificationChanged)))
        {
            $0.isDowngrade = true
        },
        Row("P19 a 416 without TLS", 416, part("bytes */4"), .ask(.whole(because: .verificationChanged))) {
            ofUnknownLength(&$0)
            $0.isDowngrade = true
        },
        Row(
            "P19 a whole without TLS",
            200,
            ["ETag": "\"v1\"", "Content-Length": "10"],
            .replace(total: 10, because: .resourceChanged)
        ) {
            askedForWhole(&$0)
            $0.abilities.canCompare = true
            $0.isDowngrade = true
        },
        Row("S36", 416, part("bytes */3"), .ask(.whole(because: .resourceChanged))),
        Row("S36 into a stream", 416, part("bytes */3"), .fail(.representationChanged), with: unrewindable),
        Row("S36 shrunk to what is there", 416, part("bytes */4"), .ask(.whole(because: .resourceChanged))),
        Row("S37 longer", 416, part("bytes */11"), .ask(.whole(because: .rangeNotSatisfiable))),
        Row("S37 no Content-Range", 416, [:], .ask(.whole(because: .rangeNotSatisfiable))),
        Row("S37 malformed", 416, part("bytes */x"), .ask(.whole(because: .rangeNotSatisfiable))),
        Row("S37 a satisfied range", 416, part("bytes 4-9/10"), .ask(.whole(because: .rangeNotSatisfiable))),
        Row(
            "S38",
            416,
            part("bytes */3"),
            .fail(.rangeNotSatisfiable(requested: 4, total: 3)),
            with: refusedBefore
        ),
        Row(
            "S38 to the whole",
            416,
            [:],
            .fail(.rangeNotSatisfiable(requested: 4, total: nil)),
            with: {
                askedForWhole(&$0)
                refusedBefore(&$0)
            }
        ),
        Row("416 to a request that never had a range", 416, [:], .deliver, with: nothingThere),
        Row(
            "416 to a Range of the caller's",
            416,
            part("bytes */10"),
            .deliver,
            with: { $0.asked = .ownRange(RangeRequest(fieldValue: "bytes=4-")) }
        ),
    ]

    @Test(arguments: partialContent)
    func decidesOnAPart(row: Row) { check(row) }

    @Test(arguments: whole)
    func decidesOnAWhole(row: Row) { check(row) }

    @Test(arguments: others)
    func decidesOnAnythingElse(row: Row) { check(row) }

    private static let restWithoutSayingSo: [Row] = {
        let mismatch = ResumeError.rangeMismatch(
            requested: "the whole",
            received: "bytes 4-9/10 with a status other than 206"
        )
        let again = ResumeDecision.ask(.whole(because: .invalidResponse))
        let elsewhere: @Sendable (inout Row) -> Void = { $0.abilities.canBeAnyPart = true }
        return [
            Row("a rest, to a question for the rest", 200, good, again),
            Row("without a tag", 200, part("bytes 4-9/10", [:]), again),
            Row("to a question for the whole", 200, good, .fail(mismatch), with: askedForWhole),
            Row("with nothing there", 200, good, .fail(mismatch), with: nothingThere),
            Row("for memory, with nothing there", 200, good, .replace(total: 6, because: nil)) {
                nothingThere(&$0)
                elsewhere(&$0)
            },
            Row("for memory, with bytes there", 200, good, again, with: elsewhere),
            Row(
                "the whole, which says so",
                200,
                part("bytes 0-9/10", ["ETag": "\"v2\"", "Content-Length": "10"]),
                .replace(total: 10, because: .resourceChanged)
            ),
            Row(
                "the beginning",
                203,
                part("bytes 0-3/10", ["Content-Length": "4"]),
                .fail(
                    .rangeMismatch(
                        requested: "the whole",
                        received: "bytes 0-3/10 with a status other than 206"
                    )
                ),
                with: nothingThere
            ),
            Row(
                "another unit says nothing about bytes",
                200,
                part("items 4-9/10", ["Content-Length": "6"]),
                .replace(total: 6, because: nil),
                with: nothingThere
            ),
        ]
    }()

    @Test("RFC 9110 section 14.4: a 200 with the Content-Range of a part", arguments: restWithoutSayingSo)
    func neverTakesARestForTheWhole(row: Row) { check(row) }

    @Test(
        "S33, S41, S42, S43: other responses go to the caller and reach no file",
        arguments: [
            301, 400, 401, 403, 404, 407, 408, 410, 412, 425, 429, 500, 502, 503, 504,
        ]
    )
    func deliversOtherResponses(status: Int) {
        check(Row("\(status)", status, Self.good, .deliver))
        check(Row("\(status)", status, Self.good, .deliver, with: Self.askedForWhole))
        check(Row("\(status)", status, Self.good, .deliver, with: Self.unrewindable))
        check(
            Row(
                "\(status)",
                status,
                Self.good,
                .deliver,
                with: { $0.asked = .ownRange(RangeRequest(fieldValue: "bytes=4-")) }
            )
        )
    }

    /// Whatever a server says, bytes are only joined when its validator does not contradict, and the answer
    /// to a restart never asks for another.
    @Test func neverJoinsBytesOfTwoTagsAndNeverRestartsForever() {
        let ranges = ["bytes 4-9/10", "bytes 4-9/*", "bytes 0-9/10", "bytes */10", "items 4-9/10", ""]
        let abilities = [
            SinkAbilities(canBeEmptied: false), SinkAbilities(canBeEmptied: true),
            SinkAbilities(canBeEmptied: true, canCompare: true),
        ]
        for status in 200..<600 {
            for range in ranges {
                for length in ["4", "6", "10", ""] {
                    for abilities in abilities {
                        let fields: HeaderFields = [
                            "ETag": "\"v2\"", "Content-Range": range, "Content-Length": length,
                        ]
                        let row = Row("", status, fields, .deliver, with: { $0.abilities = abilities })
                        switch row.actual {
                        case .append, .compare, .skip, .alreadyComplete:
                            Issue.record("joined: \(status) \(fields)")
                        case .ask, .replace, .wait, .fail, .deliver: break
                        }
                        var again = row
                        again.asked = .whole
                        if case .ask(.whole) = again.actual { Issue.record("for ever: \(status) \(fields)") }
                    }
                }
            }
        }
    }

    private func check(_ row: Row) {
        #expect(row.actual == row.decision, "\(row.testDescription)")
    }
}

extension ResumeDecisionTests.Row {
    /// The decision.
    var actual: ResumeDecision {
        let question = ResumeDecision.Context(
            asked: asked,
            partial: offset == 0 ? nil : PartialContent(fields: first, offset: offset),
            abilities: abilities,
            history: history,
            isElsewhere: isElsewhere,
            isDowngrade: isDowngrade,
            comparesUnproven: comparesUnproven
        )
        return ResumeDecision(question, status: status, fields: fields)
    }
}
