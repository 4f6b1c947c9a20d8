internal import Foundation

/// The text of a JSON body, once it is known that a parser can be trusted with it.
struct JSONText {
    /// UTF-8.
    let octets: Data
    /// The levels of containers, at most.
    let depth: Int

    /// - Throws: that the body is not text in its character set, or what there is too much of.
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

    /// The syntax error of a text that could not be decoded, in the parser's words; `nil` when it is valid
    /// JSON, of another structure.
    ///
    /// A decoder says the same of text that is not JSON, and of a number that its type cannot hold: data are
    /// corrupted, nowhere in particular. So the text is looked at once more.
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
