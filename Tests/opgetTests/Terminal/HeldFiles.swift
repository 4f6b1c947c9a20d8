import Foundation
import OperationNetworkingTesting

/// A server that sends the first byte of each of three files, and the rest when the gate is open: so progress stands
/// still, and can be compared.
///
/// | File             | Length       |
/// |------------------|--------------|
/// | `alder.iso`      | 10           |
/// | `日本語.tar.gz` | 4            |
/// | `stream`         | 3, not announced |
struct HeldFiles {
    static let names = ["alder.iso", "%E6%97%A5%E6%9C%AC%E8%AA%9E.tar.gz", "stream"]

    let gate = Gate()
    let server: ScriptedServer

    init() throws {
        let gate = gate
        server = try ScriptedServer { request in
            switch request.target.split(separator: "/").first {
            case "alder.iso":
                .representation(Representation("0123456789", entityTag: .strong("a"))).held(
                    after: 1,
                    by: gate
                )
            case "stream": .respond(200, body: "012").chunked().held(after: 1, by: gate)
            case "missing": .respond(404)
            default: .respond(200, body: "0123").held(after: 1, by: gate)
            }
        }
    }

    var addresses: [String] { Self.names.map(address) }

    func address(_ name: String) -> String {
        server.url(path: name).absoluteString
    }
}

extension VirtualScreen {
    /// Whether the line of the batch says that everything pauses. It is the last one of a frame: those above are there.
    var showsPausedBatch: Bool {
        lines.last.map { $0.hasPrefix("[") && $0.contains("paused") } ?? false
    }
}
