internal import Foundation

/// Sends one answer on its connection's thread: buffers and counts the bytes, and handles the interruptions.
struct AnswerWriter {
    /// Why an answer was not completed.
    enum Interrupted: Error {
        case close
        case reset
        /// The client has closed the connection, or the server is being stopped.
        case gone
    }

    private static let bufferSize = 1 << 16
    /// The kernel's send buffer for a throttled answer.
    private static let throttledSendBufferSize = 1 << 15

    private let socket: Socket
    private let server: ServerCore
    private let bytesPerSecond: Int?
    private var interruptions: [Interruption]
    private var buffer: [UInt8] = []
    /// The number of buffered bytes that belong to the body.
    private var bodyBytesInBuffer = 0
    private var wireCount = 0
    /// `nil` before the body begins.
    private var bodyCount: Int?
    private var throttleStart: ContinuousClock.Instant?
    private var throttledCount = 0
    /// The number of body bytes that were reported to the server.
    private var bodyBytesCounted = 0

    init(_ socket: Socket, _ answer: WireAnswer, server: ServerCore) {
        self.socket = socket
        self.server = server
        bytesPerSecond = answer.bytesPerSecond
        interruptions = answer.interruptions
        // Otherwise the kernel would accept megabytes at once.
        if bytesPerSecond != nil { socket.limitSendBuffer(to: Self.throttledSendBufferSize) }
    }

    /// Sends `answer`.
    mutating func send(_ answer: WireAnswer) throws(Interrupted) {
        do throws(Interrupted) {
            try sendParts(of: answer)
        } catch {
            switch error {
            case .close: break  // the kernel sends its buffer
            case .reset, .gone:
                let unsent = min(socket.unsentCount, bodyBytesCounted)
                if unsent > 0 { server.countBody(-unsent) }
            }
            throw error
        }
    }

    private mutating func sendParts(of answer: WireAnswer) throws(Interrupted) {
        try interruptIfDue()
        try write(answer.head, isBody: false)
        if bytesPerSecond != nil { try flush() }
        bodyCount = 0
        try interruptIfDue()
        let length = answer.body.count
        var offset = 0
        while offset < length {
            let piece = answer.body[offset..<min(length, offset + (answer.chunkSize ?? Self.bufferSize))]
            if answer.chunkSize != nil {
                try write(Data("\(String(piece.count, radix: 16))\r\n".utf8), isBody: false)
            }
            try write(piece.data, isBody: true)
            if answer.chunkSize != nil { try write(Data("\r\n".utf8), isBody: false) }
            offset += piece.count
        }
        try write(answer.tail, isBody: false)
        try flush()
    }

    // MARK: - Collecting

    private mutating func write(_ data: Data, isBody: Bool) throws(Interrupted) {
        var data = data
        while !data.isEmpty {
            let piece = data.prefix(roomBeforeInterruption(isBody: isBody))
            data = data.dropFirst(piece.count)
            buffer.append(contentsOf: piece)
            wireCount += piece.count
            if isBody {
                bodyCount = (bodyCount ?? 0) + piece.count
                bodyBytesInBuffer += piece.count
            }
            try interruptIfDue()
            if buffer.count >= Self.bufferSize { try flush() }
        }
    }

    /// The number of bytes that may be buffered before the next interruption.
    private func roomBeforeInterruption(isBody: Bool) -> Int {
        interruptions.reduce(Int.max) { room, interruption in
            switch interruption.position.unit {
            case .wire: min(room, interruption.position.count - wireCount)
            case .body: isBody ? min(room, interruption.position.count - (bodyCount ?? 0)) : room
            }
        }
    }

    // MARK: - Interruptions

    private mutating func interruptIfDue() throws(Interrupted) {
        while let index = interruptions.firstIndex(where: { isDue($0.position) }) {
            let interruption = interruptions.remove(at: index)
            try flush()
            switch interruption.action {
            case .close: throw .close
            case .reset: throw .reset
            case .stall: try hold(at: server.stall())
            case .hold(let gate): try hold(at: gate)
            case .perform(let work): work()
            }
        }
    }

    private func isDue(_ position: AnswerPosition) -> Bool {
        switch position.unit {
        case .wire: wireCount >= position.count
        case .body: bodyCount.map { $0 >= position.count } ?? false
        }
    }

    private func hold(at gate: Gate) throws(Interrupted) {
        let isOpen: Bool
        do {
            isOpen = try socket.waitForOpening(of: gate)
        } catch {
            server.note("An answer could not be held. \(error)")
            throw .close
        }
        if !isOpen { throw .gone }
    }

    // MARK: - Sending

    private mutating func flush() throws(Interrupted) {
        guard !buffer.isEmpty else { return }
        defer {
            buffer.removeAll(keepingCapacity: true)
            bodyBytesInBuffer = 0
        }
        // Counted before sending, so that a client never has more than is counted.
        count(bodyBytesInBuffer)
        var sent = 0
        while sent < buffer.count {
            let size = pacedCount(of: buffer.count - sent)
            let taken = buffer.withUnsafeBytes {
                socket.send(UnsafeRawBufferPointer(rebasing: $0[sent..<sent + (size ?? 0)]))
            }
            sent += taken
            guard taken == size else {
                // The unsent bytes, like those of the body, are at the end of the buffer.
                count(-min(bodyBytesInBuffer, buffer.count - sent))
                throw .gone
            }
        }
    }

    private mutating func count(_ bodyBytes: Int) {
        guard bodyBytes != 0 else { return }
        bodyBytesCounted += bodyBytes
        server.countBody(bodyBytes)
    }

    /// Returns how many of `count` bytes to send now: all, unless the body is throttled. In that case waits
    /// to keep the rate, about twenty times a second. `nil` if the client disconnected.
    private mutating func pacedCount(of count: Int) -> Int? {
        guard let bytesPerSecond, bodyCount != nil else { return count }
        let start = throttleStart ?? .now
        throttleStart = start
        let slice = min(count, max(1, bytesPerSecond / 20))
        throttledCount += slice
        let due = start + .seconds(Double(throttledCount) / Double(bytesPerSecond))
        let wait = due - .now
        if wait > .zero, socket.waitForHangUp(limit: wait) == .hangUp { return nil }
        return slice
    }
}
