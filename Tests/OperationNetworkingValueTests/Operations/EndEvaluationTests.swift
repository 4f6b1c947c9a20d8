import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

@Suite struct EndEvaluationTests {
    @Test(arguments: [false, true]) func aSerializerRunsOnceOrNotAtAll(isCancelled: Bool) {
        func text(_ turn: EndEvaluation.Turn) -> String {
            switch turn {
            case .none: "none"
            case .evaluate: "evaluate"
            case .use(let result): "use \(result.object as? Int ?? 0)"
            }
        }
        var evaluation = EndEvaluation.notBegun
        let turns = [false, false, true, false].map { isKept in
            if isKept { evaluation.keep(EndEvaluation.Result(object: 7)) }
            return text(evaluation.take(isCancelled: isCancelled))
        }
        let expected =
            isCancelled ? ["use 0", "use 0", "use 7", "use 0"] : ["evaluate", "none", "use 7", "none"]
        #expect(turns == expected)
    }
}
