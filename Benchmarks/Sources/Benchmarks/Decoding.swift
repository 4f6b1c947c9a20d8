import Foundation
import FoundationNetworking
import OperationNetworking

/// A JSON body of 20 MB, against Foundation's parser by itself. Of 50 MB the tree would be larger than the
/// serializer lets it be.
func decodingJSON() throws -> Figure {
    let body = jsonBody(length: 20_000_000)
    let response = jsonResponse()
    let serializer = JSONResponseSerializer()
    let (ratio, ours, theirs) = try ratio(rounds: 7) {
        _ = try serializer.responseObject(for: response, data: body)
    } to: {
        _ = try JSONSerialization.jsonObject(with: body)
    }
    return Figure(
        name: "a JSON body of 20 MB",
        value: ratio,
        goal: 1.2,
        unit: "x JSONSerialization",
        remark: "\(rounded(ours)) s, \(rounded(theirs)) s"
    )
}

/// 50 MB as values of a type, against Foundation's decoder by itself.
func decodingValues() throws -> Figure {
    struct Person: Decodable, Sendable {
        struct Address: Decodable, Sendable {
            let street: String
            let zip: String
        }

        let id: Int
        let name: String
        let score: Double
        let tags: [String]
        let active: Bool
        let parent: Int?
        let address: Address
    }
    let body = jsonBody(length: 50_000_000)
    let response = jsonResponse()
    let serializer = DecodableResponseSerializer([Person].self)
    let (ratio, ours, theirs) = try ratio(rounds: 5) {
        _ = try serializer.value(for: response, data: body)
    } to: {
        _ = try JSONDecoder().decode([Person].self, from: body)
    }
    return Figure(
        name: "50 MB of JSON as values",
        value: ratio,
        goal: 1.2,
        unit: "x JSONDecoder",
        remark: "\(rounded(ours)) s, \(rounded(theirs)) s"
    )
}

private func jsonResponse() -> HTTPURLResponse? {
    HTTPURLResponse(
        url: URL(fileURLWithPath: "/"),
        statusCode: 200,
        httpVersion: "HTTP/1.1",
        headerFields: ["Content-Type": "application/json"]
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
