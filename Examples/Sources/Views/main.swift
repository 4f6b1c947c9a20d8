// The example stands as the documentation has it:
// swift-format-ignore-file

import Foundation
import FoundationNetworking
import OperationNetworking
import OperationNetworkingImages

// Shows an image and a page, here as lines of text:
//
//     Views https://example.com/photo.jpeg https://example.com/

guard CommandLine.arguments.count == 3, let photo = URL(string: CommandLine.arguments[1]),
    let address = URL(string: CommandLine.arguments[2])
else {
    FileHandle.standardError.write(Data("usage: Views IMAGE PAGE\n".utf8))
    exit(64)
}
/// Stands for a window.
final class Window {
    let lines: AsyncStream<String>
    private let shown: AsyncStream<String>.Continuation

    init() { (lines, shown) = AsyncStream.makeStream() }

    func show(_ text: String) { shown.yield(text) }
}
let window = Window()
let manager = OperationManager()

// MARK: Example

let picture = ImageBinding(to: window) { window, image in
    window.show(image.map { "image: \($0.pixelWidth) x \($0.pixelHeight)" } ?? "no image")
}
picture.setImage(
    for: URLRequest(url: photo),
    failure: { _, _, error in window.show("image: \(error)") })

let page = ContentBinding(to: window, manager: manager) { window, content in
    window.show("page: \(content.mimeType ?? "unknown"), \(content.data.count) bytes")
}
page.load(URLRequest(url: address), failure: { error in window.show("page: \(error)") })

// MARK: End of example

for await line in window.lines.prefix(2) { print(line) }
