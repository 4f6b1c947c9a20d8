internal import OperationNetworkingSystem

extension Span<UInt8> {
    /// SHA-256 of the bytes, in hexadecimal.
    func sha256Text() throws -> String {
        let digest = try MessageDigest(.sha256)
        digest.update(self)
        return try digest.finish().hex
    }
}
