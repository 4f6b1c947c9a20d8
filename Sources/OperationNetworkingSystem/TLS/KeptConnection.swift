import COperationNetworking
import Glibc

/// A look at a connection of HTTP/1 that was used before: what comes on it before the next request is sent
/// answers nothing, and must not become the answer to that request.
///
/// | What there is to read                                  | the connection     |
/// |--------------------------------------------------------|--------------------|
/// | nothing                                                | is quiet           |
/// | the end, or an error                                   | is not             |
/// | bytes, without TLS                                     | is not             |
/// | TLS: session tickets and key updates, whole            | is quiet           |
/// | TLS: anything else, or a part of a record              | is not             |
enum KeptConnection {
    /// In bytes: more than any server sends of tickets and key updates. What sends more is not quiet.
    private static let longestInput = 16 * 1024

    /// - Parameters:
    ///   - socket: the connection's.
    ///   - tls: its TLS, an `SSL *`; `nil`: it has none. Takes tickets and key updates that have come.
    /// - Returns: whether a request may be sent over it.
    static func isQuiet(_ socket: Int32, tls: OpaquePointer?) -> Bool {
        let isQuiet = csocket_is_quiet(socket)
        guard let tls else { return isQuiet }
        // The rest of a record that has more than the response may be with OpenSSL already, or a part of one.
        if isQuiet, ctls_is_between_records(tls) { return true }
        return withUnsafeTemporaryAllocation(byteCount: longestInput, alignment: 16) { buffer in
            let count = recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            guard count > 0 || count < 0 && errno == EAGAIN, count < buffer.count else { return false }
            return staysQuiet(tls, afterReading: UnsafeRawBufferPointer(rebasing: buffer[..<max(0, count)]))
        }
    }

    /// Returns whether OpenSSL, having read `input`, has nothing for the application and no part of a record. It
    /// reads from memory: libcurl's own BIO is made for calls by libcurl, without which it has no handle to
    /// report an error to.
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
        // OpenSSL lets those go that were there before.
        SSL_set0_rbio(tls, received)
        SSL_set0_wbio(tls, sent)
        defer {
            SSL_set0_rbio(tls, reading)
            SSL_set0_wbio(tls, writing)
            // What is left there would be taken for an error of libcurl's next call.
            ERR_clear_error()
        }
        ERR_clear_error()
        var byte: UInt8 = 0
        let count = SSL_peek(tls, &byte, 1)
        let wantsMore = count <= 0 && SSL_get_error(tls, count) == SSL_ERROR_WANT_READ
        // An answer of OpenSSL's, such as an alert or a new handshake, does not go out.
        return (isWritten || input.isEmpty) && wantsMore && ctls_is_between_records(tls)
            && BIO_ctrl_pending(received) == 0 && BIO_ctrl_pending(sent) == 0
    }
}
