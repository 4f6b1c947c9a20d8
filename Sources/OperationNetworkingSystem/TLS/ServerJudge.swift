import COperationNetworking
package import Foundation

/// Decides whether a server is trusted.
package protocol ServerJudge: AnyObject, Sendable {
    /// Called during the TLS handshake, before a byte of a request is sent, and again, possibly long after
    /// the transfer, if the connection renegotiates. Called on the thread that drives the connection; must
    /// not block.
    ///
    /// - Parameters:
    ///   - certificates: the certificates that the server presented, its own first, in DER.
    ///   - chain: OpenSSL's verification with the connection's trusted authorities.
    /// - Returns: whether to continue.
    func accepts(_ certificates: [Data], chain: ChainResult) -> Bool
}

/// Replaces OpenSSL's own verification by a judge.
enum ServerVerification {
    /// Retains a judge for as long as OpenSSL may call it.
    private final class JudgeBox {
        let judge: any ServerJudge

        init(_ judge: any ServerJudge) {
            self.judge = judge
        }
    }

    /// - Returns: false if out of memory; the connection must then not be opened.
    static func install(_ judge: any ServerJudge, in context: OpaquePointer) -> Bool {
        let box = Unmanaged.passRetained(JudgeBox(judge))
        guard ccertificates_keep(context, box.toOpaque(), { ServerVerification.release($0) }) else {
            box.release()
            return false
        }
        ccertificates_set_verifier(context, { ServerVerification.verify($0, $1) }, box.toOpaque())
        return true
    }

    private static func release(_ box: UnsafeMutableRawPointer?) {
        guard let box else { return }
        Unmanaged<JudgeBox>.fromOpaque(box).release()
    }

    /// - Returns: 1 to continue the handshake.
    private static func verify(_ verification: OpaquePointer?, _ box: UnsafeMutableRawPointer?) -> Int32 {
        guard let verification, let box else { return 0 }
        let judge = Unmanaged<JudgeBox>.fromOpaque(box).takeUnretainedValue().judge
        let presented = ChainVerifier.certificates(of: X509_STORE_CTX_get0_untrusted(verification))
        let accepted = judge.accepts(presented, chain: ChainVerifier.run(verification))
        // A remaining error would be mistaken for a failure of the handshake.
        ERR_clear_error()
        if accepted {
            // libcurl checks it after the handshake.
            X509_STORE_CTX_set_error(verification, X509_V_OK)
        } else if X509_STORE_CTX_get_error(verification) == X509_V_OK {
            X509_STORE_CTX_set_error(verification, X509_V_ERR_APPLICATION_VERIFICATION)
        }
        return accepted ? 1 : 0
    }
}
