import Foundation
internal import OperationNetworkingSystem

/// The body of a response on its way: its declared length, the coding to undo, and the count of its bytes.
struct IncomingBody {
    let length: MessageLength
    let endProof: EndProof
    /// Bytes as they came.
    private(set) var received: Int64 = 0
    /// Bytes after the content coding was undone; without one, as many as were received.
    private(set) var decoded: Int64 = 0
    private let decoder: ContentDecoder?
    /// The content coding that was not asked for, and cannot be undone: an error if there is a byte in it.
    private let unaskedCoding: String?
    /// Why no byte can be taken; `nil`: they can. What the head says else is as good as ever. The transfer
    /// ends at the head, with its connection.
    let fault: TransferError?
    /// Bytes of the next piece that the decoder has already: they come again.
    private var ahead = 0

    /// The bytes that are decoded in a pass of the network thread, which has other transfers to serve.
    static let passBudget = 256 * 1024

    /// - Parameters:
    ///   - head: the final head.
    ///   - request: the request.
    ///   - lengthFault: the fault of a line of the head that did not come.
    init(_ head: ResponseHead, answering request: TransferRequest, lengthFault: MessageLength.Failure? = nil)
    {
        do throws(MessageLength.Failure) {
            if let lengthFault { throw lengthFault }
            length = try MessageLength(method: request.method, head: head)
            fault =
                head.status == 206 && request.fields["Range"] == nil ? .unaskedPartialContent : nil
        } catch {
            length = .untilClose
            fault = .length(error)
        }
        var decoder: ContentDecoder?
        var unaskedCoding: String?
        if request.acceptsContentCoding, length != .none, head.fields.hasContentCoding {
            let coding = head.fields.combined(for: "Content-Encoding") ?? ""
            decoder = ContentDecoder(contentEncoding: coding)
            if decoder == nil { unaskedCoding = coding }
        }
        self.decoder = decoder
        self.unaskedCoding = unaskedCoding
        endProof = EndProof(
            head: head,
            length: length,
            isCoded: decoder != nil,
            isTLS: request.origin.isTLS
        )
    }

    /// The bytes of a piece with `count` that have not come before.
    func newBytes(of count: Int) -> Int { max(0, count - ahead) }

    /// Takes the next piece, and hands over what it decodes to, as far as a pass has the time.
    /// - Returns: whether that was all. If not, nothing of the piece counts as taken, and it has to come
    ///   again in the next pass, perhaps together with others.
    /// - Throws: `.decoding` for bytes that are not in the content coding, `.unaskedCoding` for bytes in one
    /// that cannot be undone, `.client` for what `deliver` throws.
    mutating func take(
        _ bytes: Span<UInt8>,
        of request: TransferRequest,
        deliver: (Span<UInt8>) throws -> Void
    ) throws(TransferError) -> Bool {
        let fresh = newBytes(of: bytes.count)
        received += Int64(fresh)
        if let unaskedCoding { throw .unaskedCoding(unaskedCoding) }
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

    /// Whether all that was declared has come.
    var isComplete: Bool {
        if case .exactly(let declared) = length { received >= declared } else { false }
    }

    /// Whether it is of HTTP/2, and would end with a byte of its content coding; none has come. A stream that
    /// was reset looks like that, too.
    var isEmptyInCoding: Bool { endProof == .coding && length == .delimited && received == 0 }

    /// Whether it may all come in one pass, with the head: it is not declared to be longer.
    var isShort: Bool {
        if case .exactly(let declared) = length { declared < Int64(PassQuota.share) } else { true }
    }

    /// The error of a body that ends here, if it is shorter or longer than declared.
    var lengthError: TransferError? {
        guard case .exactly(let declared) = length, received != declared else { return nil }
        return .wrongLength(declared: declared, received: received)
    }

    /// The error of a body that ends here, inside its content coding.
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

    /// A few kilobytes can be made to decode to gigabytes, in each of several codings.
    private func check(decoded length: Int64, of request: TransferRequest) throws {
        guard length > request.maximumDecodedLength else { return }
        throw URLError(
            .dataLengthExceedsMaximum,
            url: request.url,
            sentence: "After \(received) bytes the body had more than \(request.maximumDecodedLength) "
                + "when its content coding was undone: see maximumDecodedLength."
        )
    }
}
