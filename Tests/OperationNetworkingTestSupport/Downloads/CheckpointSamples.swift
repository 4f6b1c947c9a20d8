import Foundation
import FoundationNetworking
import OperationNetworkingSystem

@testable import OperationNetworking

/// Requests, responses and checkpoints as the tests of downloads need them.
enum Sample {
    static let address = "http://example.com/file"

    static func request(_ address: String = address, _ fields: [String: String] = [:]) throws -> URLRequest {
        guard let url = URL(string: address) else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    static func origin(_ fields: HeaderFields = ["ETag": "\"v1\""]) -> DownloadCheckpoint.Response {
        DownloadCheckpoint.Response(url: address, fields: fields, isHTTP10: false)
    }

    static let part = LastingFileIdentity(inode: 2, birth: FileTime(seconds: 1, nanoseconds: 2))

    static func checkpoint(
        _ request: URLRequest,
        fields: HeaderFields = ["ETag": "\"v1\""],
        total: Int64? = 100,
        blocks ends: [Int64] = []
    ) throws -> DownloadCheckpoint {
        var checkpoint = try DownloadCheckpoint(
            DownloadRequest(request),
            origin: origin(fields),
            total: total,
            part: part,
            session: "boot/1"
        )
        for end in ends {
            checkpoint.commit(
                ByteRanges(upTo: end),
                DownloadCheckpoint.Block(end: end, length: 5, digest: "\(end)")
            )
        }
        return checkpoint
    }
}
