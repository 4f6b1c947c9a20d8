internal import COperationNetworkingImages
package import Foundation
internal import Glibc

/// A process that decodes images one after the other. It runs this program under another name, without the
/// application's descriptors and environment, and without most system calls if the kernel has seccomp.
///
/// Used on one thread at a time. It ends when its last reference is released.
package final class DecoderProcess: Sendable {
    /// An image, and the limits for decoding it.
    package struct Request: Sendable {
        package var format: DecoderFormat
        package var bytes: Data
        /// The maximum number of pixels, as stored and in the result.
        package var maximumPixels: UInt64
        /// The maximum memory for this image, in bytes.
        package var memory: UInt64
        /// The maximum time, in wall-clock time.
        package var time: Duration
        /// From 1 to 8 as in Exif; 0 if the library applies the orientation.
        package var orientation: UInt32
        /// The size to scale to, before the orientation is applied; `nil` keeps the stored size.
        package var size: (width: UInt32, height: UInt32)?
        /// The maximum width and height of the result, whatever size the library finds; `nil` for none.
        package var maximumSide: UInt32?

        package init(
            format: DecoderFormat,
            bytes: Data,
            maximumPixels: UInt64,
            memory: UInt64,
            time: Duration,
            orientation: UInt32 = 1,
            size: (width: UInt32, height: UInt32)? = nil,
            maximumSide: UInt32? = nil
        ) {
            self.format = format
            self.bytes = bytes
            self.maximumPixels = maximumPixels
            self.memory = memory
            self.time = time
            self.orientation = orientation
            self.size = size
            self.maximumSide = maximumSide
        }
    }

    /// The pixels, row by row without gaps: red, green, blue, alpha, not premultiplied.
    package struct Pixels: Sendable {
        package let width: Int
        package let height: Int
        package let hasAlpha: Bool
        package let bytes: Data
    }

    /// The process identifier.
    package let identifier: Int32
    /// The formats for which the installed library has modules.
    package let formats: Set<DecoderFormat>
    /// Whether the kernel restricts the process to system calls for memory and for its socket.
    package let isConfined: Bool
    private let socket: Socket

    /// Starts a process and waits for its first message.
    package init(within time: Duration = .seconds(10)) throws(DecoderFailure) {
        guard cimages_is_there_from_the_start() != 0 else { throw .isPlugIn }
        var process: pid_t = 0
        var handle: Int32 = CIMAGES_NO_HANDLE
        var descriptor: Int32 = -1
        let code = cimages_start_decoder(&process, &handle, &descriptor)
        guard code == 0 else { throw .notStarted(code) }
        let socket = Socket(descriptor, process, handle)
        let deadline = ContinuousClock.now + time
        var hello = cimages_hello()
        try withUnsafeMutableBytes(of: &hello) { bytes throws(DecoderFailure) in
            try socket.read(bytes, deadline)
        }
        guard hello.magic == CIMAGES_MAGIC else { throw .ended(signal: socket.end()) }
        guard hello.has_library != 0 else { throw .missing }
        identifier = process
        formats = Set(DecoderFormat.allCases.filter { hello.formats & 1 << $0.rawValue != 0 })
        isConfined = hello.is_confined != 0
        self.socket = socket
    }

    /// Decodes an image. Blocks for at most the request's time. The process has ended after an error, unless
    /// the error allows reusing it.
    package func decode(_ request: Request) throws(DecoderFailure) -> Pixels {
        let deadline = ContinuousClock.now + request.time
        var head = cimages_request()
        head.magic = CIMAGES_MAGIC
        head.format = request.format.rawValue
        head.length = UInt64(request.bytes.count)
        head.maximum_pixels = request.maximumPixels
        head.memory = request.memory
        head.seconds = UInt32(clamping: request.time.components.seconds + 1)
        head.orientation = request.orientation
        head.width = request.size?.width ?? 0
        head.height = request.size?.height ?? 0
        head.maximum_side = request.maximumSide ?? 0
        try withUnsafeBytes(of: head) { bytes throws(DecoderFailure) in try socket.write(bytes, deadline) }
        try request.bytes.span.withUnsafeBytes { bytes throws(DecoderFailure) in
            try socket.write(bytes, deadline)
        }

        var answer = cimages_answer()
        try withUnsafeMutableBytes(of: &answer) { bytes throws(DecoderFailure) in
            try socket.read(bytes, deadline)
        }
        guard answer.magic == CIMAGES_MAGIC, answer.text_length <= 1_000 else {
            throw .ended(signal: socket.end())
        }
        guard answer.status == CIMAGES_DECODED.rawValue else {
            throw try failure(answer, deadline)
        }
        let count = UInt64(answer.width) * UInt64(answer.height)
        // The answer is not trusted: the image may control the process by now.
        guard count > 0, count <= request.maximumPixels, count <= UInt64(Int32.max),
            max(answer.width, answer.height) <= request.maximumSide ?? .max
        else {
            throw .ended(signal: socket.end())
        }
        var bytes = Data(count: Int(count) * 4)
        var span = bytes.mutableSpan
        try span.withUnsafeMutableBytes { bytes throws(DecoderFailure) in try socket.read(bytes, deadline) }
        return Pixels(
            width: Int(answer.width),
            height: Int(answer.height),
            hasAlpha: answer.has_alpha != 0,
            bytes: bytes
        )
    }

    /// Whether the process is ready for an image and has not ended since the last one.
    package var isWaiting: Bool { socket.isQuiet }

    private func failure(
        _ answer: cimages_answer,
        _ deadline: ContinuousClock.Instant
    ) throws(DecoderFailure) -> DecoderFailure {
        var text = [UInt8](repeating: 0, count: Int(answer.text_length))
        var span = text.mutableSpan
        try span.withUnsafeMutableBytes { bytes throws(DecoderFailure) in try socket.read(bytes, deadline) }
        switch cimages_status(answer.status) {
        case CIMAGES_TOO_LARGE: return .tooLarge
        case CIMAGES_NO_MEMORY: return .outOfMemory
        case CIMAGES_NO_FORMAT: return .missing
        default: return .malformed(String(decoding: text, as: UTF8.self))
        }
    }
}

// MARK: - The socket

extension DecoderProcess {
    /// The application's end of the socket, and the process at the other end.
    private final class Socket: Sendable {
        private let descriptor: Int32
        /// The identifier and the handle; `nil` after the process was ended, since they may be reused.
        private let process: Guarded<(number: pid_t, handle: Int32)?>

        init(_ descriptor: Int32, _ process: pid_t, _ handle: Int32) {
            self.descriptor = descriptor
            self.process = Guarded((process, handle))
        }

        deinit {
            _ = end()
            close(descriptor)
        }

        /// Ends the process. Returns the signal that had ended it before.
        func end() -> Int32 {
            process.withLock { process in
                defer { process = nil }
                return process.map { cimages_end_decoder($0.number, $0.handle) } ?? 0
            }
        }

        /// Whether nothing can be read: neither bytes nor the end.
        var isQuiet: Bool {
            var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return poll(&waited, 1, 0) == 0
        }

        func write(
            _ bytes: UnsafeRawBufferPointer,
            _ deadline: ContinuousClock.Instant
        ) throws(DecoderFailure) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = send(descriptor, part.baseAddress, part.count, Int32(MSG_NOSIGNAL))
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else {
                    try wait(for: Int16(POLLOUT), deadline)
                }
            }
        }

        func read(
            _ bytes: UnsafeMutableRawBufferPointer,
            _ deadline: ContinuousClock.Instant
        ) throws(DecoderFailure) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeMutableRawBufferPointer(rebasing: rest)
                let count = recv(descriptor, part.baseAddress, part.count, 0)
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if count == 0 {
                    throw .ended(signal: end())
                } else {
                    try wait(for: Int16(POLLIN), deadline)
                }
            }
        }

        /// After a failed call, waits if the reason was that no bytes or no space were available.
        private func wait(
            for event: Int16,
            _ deadline: ContinuousClock.Instant
        ) throws(DecoderFailure) {
            if errno == EINTR { return }
            guard errno == EAGAIN else { throw .ended(signal: end()) }
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else {
                _ = end()
                throw .timedOut
            }
            let (seconds, attoseconds) = left.components
            let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000 + 1
            var waited = pollfd(fd: descriptor, events: event, revents: 0)
            _ = poll(&waited, 1, Int32(clamping: milliseconds))
        }
    }
}
