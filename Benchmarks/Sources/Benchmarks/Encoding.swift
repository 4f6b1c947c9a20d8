import Foundation
import OperationNetworking

/// 10,000 parameters as a query, against Foundation's `URLComponents`.
func encodingParameters() throws -> Figure {
    var parameters: [String: any Sendable] = [:]
    for index in 0..<10_000 { parameters["parameter-\(index)"] = "value \(index) & more" }
    let items = parameters.map { URLQueryItem(name: $0.key, value: $0.value as? String) }
    var length = 0
    let (ratio, ours, theirs) = ratio(rounds: 31) {
        length += QueryString(parameters).description.utf8.count
    } to: {
        var components = URLComponents()
        components.queryItems = items
        length += components.percentEncodedQuery?.utf8.count ?? 0
    }
    return Figure(
        name: "a query of 10,000 parameters",
        value: ratio,
        goal: 1.2,
        unit: "x URLComponents",
        remark: "\(rounded(ours * 1000)) ms, \(rounded(theirs * 1000)) ms; \(length > 0 ? "sorted" : "")"
    )
}
