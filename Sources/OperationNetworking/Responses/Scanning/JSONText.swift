internal import Foundation

/// The text of a JSON body that is safe to parse.
struct JSONText {
    /// UTF-8.
    let octets: Data
    /// The maximum number of levels of containers.
    let depth: Int

    /// - Throws: if the body is not text in its character set, or exceeds a limit.
    init(
        _ body: Data,
        response: ReceivedResponse?,
        makesTree: Bool,
        isJSON5: Bool = false,
        validationError: ResponseSerializationError? = nil
    ) throws(ResponseSerializationError) {
        let reason: ResponseSerializationError.Reason
        if let octets = body.asUTF8(charset: response?.charset) {
            do {
                depth = try JSONScan(octets.span, makesTree: makesTree, isJSON5: isJSON5).depth
                self.octets = octets
                return
            } catch {
                reason = .malformedBody(.json, error.sentence)
            }
        } else {
            reason = .undecodableText(charset: response?.charset ?? "UTF-8")
        }
        throw ResponseSerializationError(
            reason,
            response: response,
            data: body,
            underlyingError: validationError
        )
    }

    /// Returns the syntax error, in the parser's words, of a text that could not be decoded; `nil` if it is
    /// valid JSON with another structure.
    ///
    /// A decoder reports the same error ("data corrupted", without a place) for invalid JSON and for a number
    /// that its type cannot represent. So the text is parsed again.
    func fault(foundBy error: any Error, decoder: JSONDecoder) -> String? {
        guard case .dataCorrupted(let context) = error as? DecodingError, context.codingPath.isEmpty else {
            return nil
        }
        do {
            if decoder.allowsJSON5 || (try? JSONScan(octets.span, makesTree: true)) == nil {
                _ = try decoder.decode(EmptyResponse.self, from: octets)
            } else {
                _ = try JSONSerialization.jsonObject(with: octets, options: .fragmentsAllowed)
            }
            return nil
        } catch {
            return (error as NSError).userInfo["NSDebugDescription"] as? String ?? context.debugDescription
        }
    }
}
