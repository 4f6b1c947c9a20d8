import Foundation
internal import OperationNetworkingSystem

/// The body of a response being received: its declared length, its content coding, and the number of its
/// bytes.
struct IncomingBody {
    let length: MessageLength
    let endProof: EndProof
    /// The number of bytes as received.
    private(set) var received: Int64 = 0
    /// The number of bytes after decoding; without a content coding, the number received.
    private(set) var decoded: Int64 = 0
    private let decoder: ContentDecoder?
    /// A content coding that was not requested and cannot be decoded: an error if the body is not empty.
    private let unrequestedCoding: String?
    /// Why no byte can be used; `nil` if they can. The rest of the head is still valid. The transfer ends at
    /// the head, with its connection.
    let fault: TransferError?
    /// The number of bytes of the next piece that the decoder already has: they are delivered again.
    private var ahead = 0

    /// The maximum number of bytes decoded in a pass of the network thread, which has other transfers to
    /// serve.
    static let passBudget = 256 * 1024

    /// - Parameters:
    ///   - head: the final head.
    ///   - request: the request.
    ///   - lengthFault: the fault of a header line that was dropped.
    init(
        _ head: borrowing ResponseHead,
        answering request: borrowing TransferRequest,
        lengthFault: MessageLength.Failure? = nil
    ) {
        do throws(MessageLength.Failure) {
            if let lengthFault { throw lengthFault }
            length = try MessageLength(method: request.method, head: head)
            fault =
                head.status == 206 && request.fields["Range"] == nil ? .unrequestedPartialContent : nil
        } catch {
            length = .untilClose
            fault = .length(error)
        }
        var decoder: ContentDecoder?
        var unrequestedCoding: String?
        if request.acceptsContentCoding, length != .none, head.fields.hasContentCoding {
            let coding = head.fields.combined(for: "Content-Encoding") ?? ""
            decoder = ContentDecoder(contentEncoding: coding)
            if decoder == nil { unrequestedCoding = coding }
        }
        self.decoder = decoder
        self.unrequestedCoding = unrequestedCoding
        endProof = EndProof(
            head: head,
            length: length,
            isCoded: decoder != nil,
            isTLS: request.origin.isTLS
        )
    }

    /// Returns the number of new bytes in a piece of `count` bytes.
    func newBytes(of count: Int) -> Int { max(0, count - ahead) }

    /// Takes the next piece and delivers its decoded bytes, as far as the budget of a pass allows.
    /// - Returns: whether that was all. If not, no byte of the piece counts as taken, and it has to be
    ///   delivered again in the next pass, perhaps together with others.
    /// - Throws: `.decoding` for bytes that violate the content coding, `.unrequestedCoding` for bytes in a
    ///   coding that cannot be decoded, `.client` for an error of `deliver`.
    mutating func take(
        _ bytes: Span<UInt8>,
        of request: TransferRequest,
        deliver: (Span<UInt8>) throws -> Void
    ) throws(TransferError) -> Bool {
        let fresh = newBytes(of: bytes.count)
        received += Int64(fresh)
        if let unrequestedCoding { throw .unrequestedCoding(unrequestedCoding) }
        do {
            guard let decoder else {
                decoded += Int64(bytes.count)
                try deliver(bytes)
                return true
            }
            decoder.append(bytes.extracting(last: fresh))
            let isAll = try decoder.decode(
                atMost: Self.passBudget,
                checking: { try check(decoded: $0, of: request) }
            ) { piece in
                decoded += Int64(piece.count)
                try deliver(piece)
            }
            ahead = isAll ? max(0, ahead - bytes.count) : max(ahead, bytes.count)
            return isAll
        } catch let failure as ContentDecodingFailure {
            throw .decoding(failure)
        } catch {
            throw .client(error)
        }
    }

    /// Whether all declared bytes have arrived.
    var isComplete: Bool {
        if case .exactly(let declared) = length { received >= declared } else { false }
    }

    /// Whether the body is an HTTP/2 body without a byte of its content coding, which would prove its end. A
    /// stream that was reset looks the same.
    var isEmptyInCoding: Bool { endProof == .coding && length == .delimited && received == 0 }

    /// Whether the body may arrive in one pass with the head: it is not declared to be longer.
    var isShort: Bool {
        if case .exactly(let declared) = length { declared < Int64(PassQuota.share) } else { true }
    }

    /// The error if the body ends now and is shorter or longer than declared.
    var lengthError: TransferError? {
        guard case .exactly(let declared) = length, received != declared else { return nil }
        return .wrongLength(declared: declared, received: received)
    }

    /// The error if the body ends now, inside its content coding.
    var codingError: TransferError? {
        do {
            try decoder?.finish()
            return nil
        } catch let failure as ContentDecodingFailure {
            return .decoding(failure)
        } catch {
            return .client(error)
        }
    }

    /// Checks the decoded length: a few kilobytes can be crafted to decode to gigabytes, in several codings.
    private func check(decoded length: Int64, of request: TransferRequest) throws {
        guard length > request.maximumDecodedLength else { return }
        throw URLError(
            .dataLengthExceedsMaximum,
            url: request.url,
            sentence: "The first \(received) bytes decode to more than \(request.maximumDecodedLength): "
                + "see maximumDecodedLength."
        )
    }
}
