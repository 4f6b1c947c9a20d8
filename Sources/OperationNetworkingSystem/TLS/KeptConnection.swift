import COperationNetworking
import Glibc

/// Checks a reused HTTP/1 connection: bytes that arrive before the next request is sent must not become its
/// response.
///
/// | Readable                                      | The connection |
/// |-----------------------------------------------|----------------|
/// | nothing                                       | is quiet       |
/// | the end, or an error                          | is not         |
/// | bytes, without TLS                            | is not         |
/// | TLS: complete session tickets and key updates | is quiet       |
/// | TLS: anything else, or a partial record       | is not         |
enum KeptConnection {
    /// In bytes: more than any server sends as tickets and key updates. With more, the connection is not
    /// quiet.
    private static let longestInput = 16 * 1024

    /// - Parameters:
    ///   - socket: the connection's socket.
    ///   - tls: its `SSL *`, if it uses TLS. Processes received tickets and key updates.
    /// - Returns: whether a request may be sent over it.
    static func isQuiet(_ socket: Int32, tls: OpaquePointer?) -> Bool {
        let isQuiet = csocket_is_quiet(socket)
        guard let tls else { return isQuiet }
        // OpenSSL may already hold the rest of a record beyond the response, or a partial record.
        if isQuiet, ctls_is_between_records(tls) { return true }
        return withUnsafeTemporaryAllocation(byteCount: longestInput, alignment: 16) { buffer in
            let count = recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            guard count > 0 || count < 0 && errno == EAGAIN, count < buffer.count else { return false }
            return staysQuiet(tls, afterReading: UnsafeRawBufferPointer(rebasing: buffer[..<max(0, count)]))
        }
    }

    /// Returns whether OpenSSL, after reading `input`, has neither application data nor a partial record.
    /// Reads from memory, because libcurl's own BIO only works within calls by libcurl.
    private static func staysQuiet(_ tls: OpaquePointer, afterReading input: UnsafeRawBufferPointer) -> Bool {
        guard let reading = SSL_get_rbio(tls), let writing = SSL_get_wbio(tls) else { return false }
        guard let received = BIO_new(BIO_s_mem()) else { return false }
        guard let sent = BIO_new(BIO_s_mem()) else {
            BIO_free(received)
            return false
        }
        let isWritten = BIO_write(received, input.baseAddress, Int32(input.count)) == input.count
        BIO_up_ref(reading)
        BIO_up_ref(writing)
        // OpenSSL releases the previous ones.
        SSL_set0_rbio(tls, received)
        SSL_set0_wbio(tls, sent)
        defer {
            SSL_set0_rbio(tls, reading)
            SSL_set0_wbio(tls, writing)
            // A remaining error would be mistaken for one of libcurl's next call.
            ERR_clear_error()
        }
        ERR_clear_error()
        var byte: UInt8 = 0
        let count = SSL_peek(tls, &byte, 1)
        let wantsMore = count <= 0 && SSL_get_error(tls, count) == SSL_ERROR_WANT_READ
        // Output of OpenSSL, such as an alert or a new handshake, is discarded.
        return (isWritten || input.isEmpty) && wantsMore && ctls_is_between_records(tls)
            && BIO_ctrl_pending(received) == 0 && BIO_ctrl_pending(sent) == 0
    }
}
