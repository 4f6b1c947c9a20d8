import Foundation
import OperationNetworking

/// A dictionary of 10,000 parameters as a query, against Foundation's way there: `URLQueryItem`s and `URLComponents`,
/// which are not sorted.
func encodingParameters() throws -> Figure {
    let parameters = parameters()
    let (ratio, ours, theirs) = try ratio(rounds: 101) {
        _ = try QueryString(parameters).description
    } to: {
        var components = URLComponents()
        components.queryItems = parameters.map { URLQueryItem(name: $0.key, value: $0.value as? String) }
        _ = components.percentEncodedQuery
    }
    return Figure(
        name: "a query of 10,000 parameters",
        value: ratio,
        goal: 1.2,
        unit: "x URLComponents",
        remark: "\(rounded(ours * 1000)) ms, \(rounded(theirs * 1000)) ms"
    )
}

/// The same parameters as a JSON body, against Foundation's writer by itself, which traps on bad ones.
func encodingJSON() throws -> Figure {
    let parameters = parameters()
    let serializer = JSONRequestSerializer()
    let (ratio, ours, theirs) = try ratio(rounds: 101) {
        _ = try serializer.body(of: parameters)
    } to: {
        _ = try JSONSerialization.data(withJSONObject: parameters)
    }
    return Figure(
        name: "10,000 parameters as JSON",
        value: ratio,
        goal: 1.2,
        unit: "x JSONSerialization",
        remark: "\(rounded(ours * 1000)) ms, \(rounded(theirs * 1000)) ms"
    )
}

private func parameters() -> [String: any Sendable] {
    var parameters: [String: any Sendable] = [:]
    for index in 0..<10_000 { parameters["parameter-\(index)"] = "value \(index) & more" }
    return parameters
}
