import COperationNetworking
import Foundation
import Glibc

// The callbacks of libcurl: capture-free, each one calls a method.
extension EasyHandle {
    static let didReceiveHeaderLine: clibcurl_data_callback = { bytes, size, count, context in
        from(context).didReceiveHeaderLine(buffer(bytes, size * count))
    }

    static let didReceiveBody: clibcurl_data_callback = { bytes, size, count, context in
        from(context).didReceiveBody(buffer(bytes, size * count))
    }

    static let needsBody: clibcurl_data_callback = { bytes, size, count, context in
        from(context).needsBody(UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
    }

    static let seeksBody: clibcurl_seek_callback = { context, offset, origin in
        from(context).seeksBody(to: Int64(offset), origin: origin)
    }

    /// Sockets that libcurl opens itself are inherited by every child process, with their TLS connections.
    static let openSocket: clibcurl_open_socket_callback = { context, _, address in
        guard let address else { return -1 }
        let kind = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
        let socket = socket(address.pointee.family, kind, address.pointee.protocol)
        let code = errno
        from(context).didOpenSocket(socket, code)
        return socket
    }

    static let willSendRequest: clibcurl_before_request_callback = {
        context,
        remote,
        local,
        remotePort,
        localPort in
        from(context).willSendRequest(remote, local, remotePort, localPort)
    }

    static let willStartTLS: clibcurl_tls_callback = { _, context, handle in
        from(handle).willStartTLS(context)
    }

    static let didProgress: clibcurl_progress_callback = { context, _, received, _, _ in
        from(context).didProgress(received: Int64(received)) ? 0 : 1
    }

    static let didLog: clibcurl_log_callback = { _, kind, bytes, count, context in
        if kind == CURLINFO_TEXT { from(context).didLog(buffer(bytes, count)) }
        return 0
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> EasyHandle {
        guard let context else { preconditionFailure("libcurl lost the context of a callback") }
        return Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
    }

    private static func buffer(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> UnsafeBufferPointer<
        UInt8
    > {
        UnsafeRawBufferPointer(start: bytes, count: count).assumingMemoryBound(to: UInt8.self)
    }

    private func willStartTLS(_ context: UnsafeMutableRawPointer?) -> CURLcode {
        trace.hasBegunTLS = true
        guard let judge, let context, ServerVerification.install(judge, in: OpaquePointer(context)) else {
            return CURLE_SSL_CERTPROBLEM
        }
        return CURLE_OK
    }

    private func willSendRequest(
        _ remote: UnsafePointer<CChar>?,
        _ local: UnsafePointer<CChar>?,
        _ remotePort: Int32,
        _ localPort: Int32
    ) -> Int32 {
        trace.hasMoved = true
        trace.requestCount += 1
        let connection = ConnectionID(
            remote: remote,
            local: local,
            remotePort: remotePort,
            localPort: localPort,
            isShared: ctls_has_chosen_http2(raw)
        )
        noteConnection(connection, localPort: localPort)
        let maySend = delegate?.easyHandleWillSendRequest(over: connection) == true
        return maySend ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }

    /// libcurl passes one line at a time, except trailers that it buffered while the transfer was paused
    /// (7.88).
    private func didReceiveHeaderLine(_ lines: UnsafeBufferPointer<UInt8>) -> Int {
        guard let delegate else { return -1 }
        var start = 0
        repeat {
            let rest = UnsafeBufferPointer(rebasing: lines[start...])
            let newline = rest.span.firstIndex(of: UInt8(ascii: "\n"))
            let line = UnsafeBufferPointer(rebasing: rest.prefix(newline.map { $0 + 1 } ?? rest.count))
            guard delegate.easyHandleDidReceiveHeaderLine(line.span) else { return -1 }
            watchFolding(after: line)
            start += line.count
        } while start < lines.count
        return lines.count
    }

    private func didReceiveBody(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        switch foldWatch {
        case .firstLine: return mayStoreFirstLine(bytes) ? bytes.count : -1
        case .passedLine: return bytes.count
        case .off, .statusLine: break
        }
        if body == .dropped { return bytes.count }
        switch delegate?.easyHandleDidReceiveBody(bytes.span) ?? .failed {
        case .taken: return bytes.count
        case .full:
            body = .held
            trace.wasHeld = true
            return CLIBCURL_WRITE_PAUSE
        case .failed: return -1
        }
    }

    private func needsBody(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        switch delegate?.easyHandleNeedsBody(atMost: buffer.count) ?? .failed {
        case .bytes(let data): data.copyBytes(to: buffer)
        case .end: 0
        case .notYet: CLIBCURL_READ_PAUSE
        case .failed: CLIBCURL_READ_ABORT
        }
    }

    private func seeksBody(to offset: Int64, origin: Int32) -> Int32 {
        guard origin == SEEK_SET, delegate?.easyHandleSeeksBody(to: offset) == true else {
            return CURL_SEEKFUNC_FAIL
        }
        return CURL_SEEKFUNC_OK
    }
}
