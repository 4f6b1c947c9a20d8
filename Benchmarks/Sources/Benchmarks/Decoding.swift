import Foundation
import FoundationNetworking
import OperationNetworking

/// A JSON body of 50 MB, against Foundation's parser by itself.
func decodingJSON() throws -> Figure {
    let body = jsonBody(length: 50_000_000)
    let url = URL(fileURLWithPath: "/")
    let response = HTTPURLResponse(
        url: url,
        statusCode: 200,
        httpVersion: "HTTP/1.1",
        headerFields: ["Content-Type": "application/json"]
    )
    let serializer = JSONResponseSerializer()
    let (ratio, ours, theirs) = try ratio(rounds: 7) {
        _ = try serializer.responseObject(for: response, data: body)
    } to: {
        _ = try JSONSerialization.jsonObject(with: body)
    }
    return Figure(
        name: "a JSON body of 50 MB",
        value: ratio,
        goal: 1.2,
        unit: "x JSONSerialization",
        remark: "\(rounded(ours)) s, \(rounded(theirs)) s"
    )
}

/// An array of objects as an API would send them.
private func jsonBody(length: Int) -> Data {
    var body = Data("[".utf8)
    var index = 0
    while body.count < length {
        let tags = "[\"red\", \"green\", \"blu\\u0065\"]"
        let object = """
            {"id": \(index), "name": "Person number \(index)", "score": \(Double(index) / 7), "tags": \(tags), \
            "active": \(index % 2 == 0), "parent": null, "address": {"street": "Main Street \(index)", "zip": "12345"}}
            """
        body.append(Data("\(index == 0 ? "" : ",")\(object)".utf8))
        index += 1
    }
    body.append(Data("]".utf8))
    return body
}
