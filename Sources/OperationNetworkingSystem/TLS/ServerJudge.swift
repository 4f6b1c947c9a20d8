import COperationNetworking
package import Foundation

/// A judge of servers, which decides whether one is trusted.
package protocol ServerJudge: AnyObject, Sendable {
    /// Called during the TLS handshake, before a byte of a request is sent; and again, perhaps long after the
    /// transfer, when the connection renegotiates. On the thread that drives the connection; nothing there
    /// may wait.
    ///
    /// - Parameters:
    ///   - certificates: what the server has presented, its own certificate first, in DER.
    ///   - chain: what OpenSSL makes of it, by the connection's trusted authorities.
    /// - Returns: whether to go on.
    func accepts(_ certificates: [Data], chain: ChainResult) -> Bool
}

/// Puts a judge in the place of OpenSSL's own verification.
enum ServerVerification {
    /// Holds a judge for as long as OpenSSL may ask.
    private final class Seat {
        let judge: any ServerJudge

        init(_ judge: any ServerJudge) {
            self.judge = judge
        }
    }

    /// - Returns: false when there is no memory; the connection must not be made then.
    static func install(_ judge: any ServerJudge, in context: OpaquePointer) -> Bool {
        let seat = Unmanaged.passRetained(Seat(judge))
        guard ccertificates_keep(context, seat.toOpaque(), { ServerVerification.release($0) }) else {
            seat.release()
            return false
        }
        ccertificates_set_verifier(context, { ServerVerification.verify($0, $1) }, seat.toOpaque())
        return true
    }

    private static func release(_ seat: UnsafeMutableRawPointer?) {
        guard let seat else { return }
        Unmanaged<Seat>.fromOpaque(seat).release()
    }

    /// - Returns: 1 to go on with the handshake.
    private static func verify(_ verification: OpaquePointer?, _ seat: UnsafeMutableRawPointer?) -> Int32 {
        guard let verification, let seat else { return 0 }
        let judge = Unmanaged<Seat>.fromOpaque(seat).takeUnretainedValue().judge
        let presented = ChainVerifier.certificates(of: X509_STORE_CTX_get0_untrusted(verification))
        let accepted = judge.accepts(presented, chain: ChainVerifier.run(verification))
        // What is left there would be taken for a failure of the handshake.
        ERR_clear_error()
        if accepted {
            // libcurl looks at it after the handshake.
            X509_STORE_CTX_set_error(verification, X509_V_OK)
        } else if X509_STORE_CTX_get_error(verification) == X509_V_OK {
            X509_STORE_CTX_set_error(verification, X509_V_ERR_APPLICATION_VERIFICATION)
        }
        return accepted ? 1 : 0
    }
}
