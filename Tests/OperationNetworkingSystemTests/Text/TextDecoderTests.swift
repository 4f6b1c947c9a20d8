import Foundation
import Glibc
import Testing

@testable import OperationNetworkingSystem

@Suite struct TextDecoderTests {
    private func decode(_ octets: [UInt8], _ name: String) -> String? {
        guard let decoder = TextDecoder(characterSet: name) else { return nil }
        return decoder.decode(octets.span)
    }

    /// The names that `iconv -l` lists. Some are spelled with a slash, which no server may send; each of
    /// these has another name too.
    private static let names: [String] = {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["iconv", "-l"]
        let output = Pipe()
        process.standardOutput = output
        do {
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return text.split(whereSeparator: \.isWhitespace).map { name in
                name.hasSuffix("//") ? String(name.dropLast(2)) : String(name)
            }
        } catch {
            return []
        }
    }()

    /// iconv(3) the other way; `nil` for what the set has no character for.
    private func encode(_ text: String, _ name: String) -> [UInt8]? {
        guard let descriptor = iconv_open(name, "UTF-8"), descriptor != iconv_t(bitPattern: -1) else {
            return nil
        }
        defer { iconv_close(descriptor) }
        var input = Array(text.utf8).map { CChar(bitPattern: $0) }
        var output = [CChar](repeating: 0, count: 64 * input.count + 64)
        let count: Int? = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                var from = input.baseAddress
                var fromLeft = input.count
                var to = output.baseAddress
                var toLeft = output.count
                guard iconv(descriptor, &from, &fromLeft, &to, &toLeft) == 0,
                    iconv(descriptor, nil, nil, &to, &toLeft) != -1
                else { return nil }
                return output.count - toLeft
            }
        }
        return count.map { output[..<$0].map { UInt8(bitPattern: $0) } }
    }

    @Test func everyNameThatIconvListsDecodesWhatItEncodes() {
        let names = TextDecoderTests.names
        #expect(names.count > 500)
        let candidates = ["A", "a", "7", "é", "я", "β", "あ", "中", "한", "א", "ก", "ა", "⠁", "0", "ђ"]
        var decoded = 0
        for name in names where !name.contains("/") {
            // Some sets have a substitute for what they have not.
            let substitute = encode("\u{1A}", name)
            let text = candidates.filter { character in
                encode(character, name).map { $0 != substitute } ?? false
            }.joined()
            guard let octets = encode(text, name), !text.isEmpty else {
                Issue.record(Comment(rawValue: "\(name) encodes nothing"))
                continue
            }
            #expect(decode(octets, name) == text, "\(name)")
            #expect(decode(octets, name.lowercased()) == text, "\(name) in lower case")
            decoded += 1
        }
        #expect(decoded > 500)
    }

    @Test(arguments: [
        "", "x-unheard-of", "utf-8//TRANSLIT", "utf-8//IGNORE", "utf-8/", "/etc/passwd", "../x", "utf-8,",
        "utf 8",
        "utf-8\0", "utf-8\n", "ü", "%s%n", "*", String(repeating: "a", count: 41),
        String(repeating: "a", count: 10_000_000),
    ])
    func knowsNoOtherNames(name: String) {
        let isKnown: Bool
        if TextDecoder(characterSet: name) == nil { isKnown = false } else { isKnown = true }
        #expect(!isKnown)
    }

    @Test(
        arguments: [
            ("euc-jp", [0xA4]),  // the first half of a character
            ("euc-jp", [0xA4, 0x20]),
            ("gb18030", [0x81, 0x30, 0x81]),
            ("big5-hkscs", [0x88]),
            ("iso-2022-jp", [0x1B, 0x24]),  // half an escape sequence
            ("iso-2022-jp", [0x1B, 0x24, 0x42, 0x24]),
            ("iso-2022-kr", [0xFF]),
            ("cp1252", [0x81]),
            ("ucs-4be", [0x00, 0x11, 0x00, 0x00]),  // beyond Unicode
            ("ucs-4be", [0x00, 0x00, 0xD8, 0x00]),
            ("ucs-4be", [0x7F, 0xFF, 0xFF, 0xFF]),
            ("utf-16le", [0x00, 0xD8]),
            ("utf-8", [0xC0, 0x80]),
            ("utf-8", [0xED, 0xA0, 0x80]),
        ] as [(String, [UInt8])]
    )
    func whatIsNotTextIsNil(name: String, octets: [UInt8]) {
        #expect(decode(octets, name) == nil)
    }

    @Test(
        arguments: [
            ("iso-2022-jp", [0x1B, 0x24, 0x42, 0x24, 0x22], "あ"),  // not shifted back at the end
            ("iso-2022-kr", [0x1B, 0x24, 0x29, 0x43, 0x0E, 0x30, 0x21, 0x0F], "가"),
            ("utf-7", [0x2B, 0x41, 0x4F, 0x6B, 0x2D], "é"),
            ("big5-hkscs", [0x88, 0x66], "Ê"),  // held back until it is known that no accent follows
            ("big5-hkscs", [0x88, 0x62], "Ê\u{304}"),
            ("tcvn5712-1", [0x41], "A"),
            ("ibm037", [0xC1], "A"),
            ("euc-jisx0213", [0xA4, 0xAB], "か"),
        ] as [(String, [UInt8], String)]
    )
    func whatIsHeldBackComesOutAtTheEnd(name: String, octets: [UInt8], text: String) {
        #expect(decode(octets, name) == text)
    }

    @Test(arguments: [0, 1, 5461, 5462, 16_384, 16_385, 1_000_003])
    func decodesTextOfAnyLength(count: Int) {
        #expect(
            decode([UInt8](repeating: 0xA4, count: 2 * count), "euc-jp")
                == String(repeating: "い", count: count)
        )
    }

    @Test("No input crashes a decoder or makes it run forever", .timeLimit(.minutes(5)))
    func survivesAnyOctets() {
        var generator = SystemRandomNumberGenerator()
        let octets = (0..<512).map { _ in UInt8.random(in: 0...255, using: &generator) }
        for name in TextDecoderTests.names where !name.contains("/") {
            _ = decode(octets, name)
            for length in 1...4 { _ = decode(Array(octets[..<length]), name) }
        }
    }
}
