import Foundation
import FoundationNetworking

@testable import OperationNetworking

extension URLRequest {
    /// A plain one.
    static var sample: URLRequest { URLRequest(url: URL(fileURLWithPath: "/file")) }
}

extension HeaderFields {
    func adding(_ name: String, _ value: String) -> HeaderFields {
        var fields = self
        fields.append(name: name, value: value)
        return fields
    }
}
