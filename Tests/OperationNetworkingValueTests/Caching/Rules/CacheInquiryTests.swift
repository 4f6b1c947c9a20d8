import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The use of answers of the server, decided by their heads.
@Suite struct CacheInquiryTests {
    private static func use(
        of head: ResponseHead,
        for fields: HeaderFields = [:],
        validating index: Int? = nil,
        _ candidates: [CachedHead] = []
    ) -> CacheInquiry.Use {
        let inquiry = CacheInquiry(
            validated: index,
            request: CacheScenario.request(fields),
            candidates: candidates,
            time: CacheScenario.start
        )
        return inquiry.use(of: head, now: CacheScenario.start)
    }

    private static func part(_ range: String) -> ResponseHead {
        CacheScenario.head(
            [
                "ETag": "\"v1\"", "Cache-Control": "max-age=60", "Content-Range": range,
                "Date": CacheScenario.date(0),
            ],
            status: 206
        )
    }

    @Test(
        "RFC 9111 §3.3: a part is passed to the client and not stored",
        arguments: [nil, "bytes=4-9", "bytes=0-"]
    )
    func noPartIsStored(asked: String?) {
        var fields = HeaderFields()
        fields["Range"] = asked
        guard case .pass(nil) = Self.use(of: Self.part("bytes 4-9/10"), for: fields) else {
            Issue.record("not passed on, or stored")
            return
        }
    }

    @Test func aPartInAnswerToAValidationIsNotStored() throws {
        let whole = try #require(CacheScenario.stored(["ETag": "\"v1\""]))
        guard case .pass(nil) = Self.use(of: Self.part("bytes 0-9/10"), validating: 0, [whole]) else {
            Issue.record("not passed on")
            return
        }
    }
}
