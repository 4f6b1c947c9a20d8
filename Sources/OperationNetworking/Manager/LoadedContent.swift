public import Foundation

/// A page, or other content, with what a view needs to show it.
public struct LoadedContent: Sendable {
    /// The body.
    public var data: Data
    /// The media type of the response, such as `text/html`; `nil`: it said none.
    public var mimeType: String?
    /// The name of the character set of the response; `nil`: it said none.
    public var textEncodingName: String?
    /// The URL of the response: links in the content are relative to it.
    public var baseURL: URL?

    /// Content of your own.
    public init(data: Data, mimeType: String? = nil, textEncodingName: String? = nil, baseURL: URL? = nil) {
        self.data = data
        self.mimeType = mimeType
        self.textEncodingName = textEncodingName
        self.baseURL = baseURL
    }
}
