import Foundation
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// Generated forms, taken apart again by a strict reader of RFC 7578 that shares nothing with their writer.
@Suite(.timeLimit(.minutes(2)))
struct MultipartRoundTripTests {
    private struct Part: Equatable {
        var name: String
        var fileName: String?
        var type: String?
        var data: Data
    }

    private struct Malformed: Error {
        let reason: String
    }

    // MARK: - Reading

    private static func parts(of body: Data, boundary: String) throws -> [Part] {
        let delimiter = Data("\r\n--\(boundary)".utf8)
        // Before the first delimiter nothing is written, not even its line end.
        var rest = Data("\r\n".utf8) + body
        var parts: [Part] = []
        while true {
            guard rest.starts(with: delimiter) else { throw Malformed(reason: "no delimiter") }
            rest = rest.dropFirst(delimiter.count)
            if rest.starts(with: Data("--".utf8)) {
                guard rest == Data("--\r\n".utf8) else { throw Malformed(reason: "something after the end") }
                return parts
            }
            guard rest.starts(with: Data("\r\n".utf8)), let end = rest.range(of: delimiter) else {
                throw Malformed(reason: "a part without an end")
            }
            parts.append(try part(rest[rest.index(rest.startIndex, offsetBy: 2)..<end.lowerBound]))
            rest = rest[end.lowerBound...]
        }
    }

    private static func part(_ bytes: Data) throws -> Part {
        guard let head = bytes.range(of: Data("\r\n\r\n".utf8)) else {
            throw Malformed(reason: "no empty line")
        }
        let lines = String(decoding: bytes[..<head.lowerBound], as: UTF8.self).split(separator: "\r\n")
        var part = Part(name: "", data: Data(bytes[head.upperBound...]))
        for line in lines {
            if line.hasPrefix("Content-Type: ") { part.type = String(line.dropFirst(14)) }
            guard line.hasPrefix("Content-Disposition: form-data; ") else { continue }
            // An unescaped quote ends a value: so there are none in it.
            let values = line.split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
            guard values.count == 3 || values.count == 5, values[0].hasSuffix(" name=") else {
                throw Malformed(reason: "\(line)")
            }
            part.name = values[1]
            if values.count == 5 { part.fileName = values[3] }
        }
        return part
    }

    // MARK: - Writing

    private static let alphabet = Array("aZ09 -_.[]%\"\r\n;=\\äß日👴🏿\u{301}&+")

    private static func text(_ random: inout SeededGenerator) -> String {
        String(
            (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in
                alphabet.randomElement(using: &random)
            }
        )
    }

    private static func data(_ random: inout SeededGenerator, boundary: String) -> Data {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: Data()
        case 1: Data("\r\n--\(boundary.dropLast())\r\n".utf8)
        case 2:
            Data(
                (0..<Int.random(in: 1...300, using: &random)).map { _ in .random(in: 0...255, using: &random)
                }
            )
        default: Data(count: Int.random(in: 1...70_000, using: &random))
        }
    }

    /// The form that a browser would write; the writer under test goes another way.
    private static func escaped(_ name: String, isFileName: Bool) -> String {
        var name = name
        if !isFileName {
            name = name.unicodeScalars.split(
                separator: "\r\n".unicodeScalars,
                omittingEmptySubsequences: false
            )
            .map { String($0).unicodeScalars.map { $0 == "\r" || $0 == "\n" ? "\r\n" : String($0) }.joined() }
            .joined(separator: "\r\n")
        }
        return [("\"", "%22"), ("\r", "%0D"), ("\n", "%0A")].reduce(name) { text, pair in
            String(text.unicodeScalars.map { String($0) == pair.0 ? pair.1 : String($0) }.joined())
        }
    }

    @Test func whatIsAppendedIsRead() throws {
        for seed in 0..<UInt64(Rounds.count(1000)) {
            var random = SeededGenerator(seed: seed)
            var form = MultipartFormData()
            var expected: [Part] = []
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let (name, fileName) = (Self.text(&random), Self.text(&random))
                let data = Self.data(&random, boundary: form.boundary)
                var part = Part(name: Self.escaped(name, isFileName: false), data: data)
                switch Int.random(in: 0..<3, using: &random) {
                case 0:
                    form.appendPart(withFormData: data, name: name)
                case 1:
                    try form.appendPart(
                        withFileData: data,
                        name: name,
                        fileName: fileName,
                        mimeType: "a/b; c=d"
                    )
                    part.fileName = Self.escaped(fileName, isFileName: true)
                    part.type = "a/b; c=d"
                default:
                    try form.appendPart(
                        withInputStream: InputStream(data: data + Data("more".utf8)),
                        name: name,
                        fileName: fileName,
                        length: Int64(data.count),
                        mimeType: "x/y"
                    )
                    part.fileName = Self.escaped(fileName, isFileName: true)
                    part.type = "x/y"
                }
                expected.append(part)
            }
            let body = try read(form.body, by: Int.random(in: 1000...80_000, using: &random))
            try #require(form.length == Int64(body.count), "seed \(seed)")
            let parts = try Self.parts(of: body, boundary: form.boundary)
            try #require(parts == expected, "seed \(seed)")
        }
    }

    @Test(arguments: [
        (16_384, 0.2, 81_920), (1, 3.0, 1), (100, 0.0, nil), (0, 1.0, nil), (-1, 1.0, nil), (1, .nan, nil),
        (Int.max, 1e-300, nil),
    ])
    func packetsAndDelaysAreARate(size: Int, delay: Double, rate: Int64?) {
        var form = MultipartFormData()
        form.throttleBandwidth(withPacketSize: size, delay: delay)
        #expect(form.body.maximumRate == rate)
    }
}
