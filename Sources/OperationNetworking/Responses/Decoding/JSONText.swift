internal import Foundation

/// The text of a JSON body.
enum JSONText {
    /// The body in an encoding that Foundation's parsers recognize, `nil` when it is not text in its own.
    static func parseable(_ data: Data, charset: String?) -> Data? {
        guard let charset, let set = NamedCharacterSet(name: charset), !set.isKnownToParsers else {
            return data
        }
        return set.decode(data).map { Data($0.utf8) }
    }

    /// The syntax error of a text that could not be decoded, in the parser's words; `nil` when it is valid
    /// JSON, of another structure.
    ///
    /// A decoder says the same of text that is not JSON, and of a number that its type cannot hold: data are
    /// corrupted, nowhere in particular. So the text is looked at once more.
    static func fault(in text: Data, foundBy error: any Error, decoder: JSONDecoder) -> String? {
        guard case .dataCorrupted(let context) = error as? DecodingError, context.codingPath.isEmpty else {
            return nil
        }
        do {
            if decoder.allowsJSON5 || JSONWeight.tree.refusal(of: text) != nil {
                _ = try decoder.decode(EmptyResponse.self, from: text)
            } else {
                _ = try JSONSerialization.jsonObject(with: text, options: .fragmentsAllowed)
            }
            return nil
        } catch {
            return (error as NSError).userInfo["NSDebugDescription"] as? String ?? context.debugDescription
        }
    }
}
