import Foundation
import FoundationNetworking
import OperationNetworkingSystem
import OperationNetworkingTesting
import Testing

@testable import OperationNetworking
@testable import OperationNetworkingTestSupport

/// The record that is kept with a complete file, and its value as a proof later.
@Suite struct FileRecordTests {
    private let stamp = FileStamp(length: 4, seconds: -5, nanoseconds: 6)

    private func request(_ address: String = "http://h/a", fields: [String: String] = [:]) throws
        -> URLRequest
    {
        var request = URLRequest(url: try #require(URL(string: address)))
        request.allHTTPHeaderFields = fields
        return request
    }

    private func record(
        _ fields: HeaderFields = [:],
        proof: FileRecord.Proof = .complete
    ) throws -> FileRecord {
        try FileRecord(
            DownloadRequest(try request()),
            file: LastingFileIdentity(inode: .max, birth: FileTime(seconds: -1, nanoseconds: 2)),
            stamp: stamp,
            proof: proof,
            fields: fields
        )
    }

    /// The record of a file that exists.
    private func record(
        of file: PartFile,
        _ request: URLRequest,
        under verification: ServerVerification? = nil,
        proof: FileRecord.Proof = .complete,
        fields: HeaderFields = [:],
        varying: [String] = []
    ) throws -> FileRecord {
        try FileRecord(
            DownloadRequest(request),
            under: verification,
            file: file.lastingIdentity,
            stamp: try file.stamp,
            proof: proof,
            fields: fields,
            varying: varying
        )
    }

    @Test(
        arguments: [
            [:], ["ETag": "\"v\""],
            [
                "ETag": "W/\"v\"", "Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT",
                "Date": "Tue, 14 Nov 2023 22:13:21 GMT",
            ],
        ] as [HeaderFields]
    )
    func isReadAsItWasWritten(fields: HeaderFields) throws {
        let record = try record(fields)
        #expect(try FileRecord(text: record.text) == record)
        #expect(record.entityTag == fields["ETag"])
        #expect(record.lastModified == fields["Last-Modified"])
    }

    @Test func holdsNoAddressAndNoLongOrMalformedValidator() throws {
        let record = try record([
            "ETag": "\"" + String(repeating: "x", count: 5000) + "\"", "Last-Modified": "yesterday",
        ])
        #expect(record.entityTag == nil && record.lastModified == nil)
        #expect(try !record.text.contains("http"))
        #expect(try record.text.utf8.count < 600)
    }

    @Test(arguments: ["", "{}", "[]", "5 0 1 2 complete\n\n"])
    func invalidTextIsNotARecord(text: String) {
        #expect(FileRecord(text: text) == nil)
    }

    @Test(arguments: [
        ("\"format\":6", "\"format\":5"), ("\"complete\"", "\"perhaps\""),
        ("\"seconds\":-5", "\"seconds\":99999999999999999999"), ("\"inode\":\(UInt64.max)", "\"inode\":-1"),
    ])
    func invalidNumbersAndWordsAreNotARecord(old: String, new: String) throws {
        let text = try record().text
        let changed = text.replacing(old, with: new)
        #expect(changed != text)
        #expect(FileRecord(text: changed) == nil)
    }

    /// In the second of the response the file may have changed once more, and a proxy's clock may be another one.
    @Test(
        arguments: [
            ["Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT", "Date": "Tue, 14 Nov 2023 22:13:20 GMT"],
            ["Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT"],
            [
                "Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT", "Date": "Tue, 14 Nov 2023 22:14:19 GMT",
                "Age": "9",
            ],
        ] as [HeaderFields]
    )
    func keepsNoWeakDate(fields: HeaderFields) throws {
        let record = try record(fields)
        #expect(record.lastModified == nil)
        #expect(FileCondition(record) == nil)
    }

    @Test(
        arguments: [
            (["ETag": "\"v\"", "Content-Length": "4"], false), ([:], false), (["ETag": "W/\"v\""], false),
            (["ETag": "\"w\""], true), (["ETag": "v"], true), (["Content-Length": "5"], true),
            (["Content-Length": "0"], false), (["Content-Length": "0, 4"], true),
            (["Content-Length": "x"], true), (["Content-Length": "0", "ETag": "\"w\""], true),
            (["Last-Modified": "Tue, 14 Nov 2023 22:13:21 GMT"], false),
        ] as [(HeaderFields, Bool)]
    )
    func a304MayContradictTheTagOrTheLength(fields: HeaderFields, isContradiction: Bool) throws {
        let condition = try #require(FileCondition(try record(["ETag": "\"v\""])))
        #expect(condition.isContradicted(by: fields) == isContradiction)
    }

    @Test(
        arguments: [
            (["Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT"], false), (["ETag": "\"w\""], false),
            (["Last-Modified": "Tue, 14 Nov 2023 22:13:19 GMT"], true), (["Content-Length": "5"], true),
        ] as [(HeaderFields, Bool)]
    )
    func a304MayContradictTheDate(fields: HeaderFields, isContradiction: Bool) throws {
        let sent: HeaderFields = [
            "Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT", "Date": "Tue, 14 Nov 2023 22:13:21 GMT",
        ]
        let condition = try #require(FileCondition(try record(sent)))
        #expect(condition.isContradicted(by: fields) == isContradiction)
    }

    @Test(arguments: FileRecord.Proof.allCases)
    func provesNoMoreThanWasKnown(proof: FileRecord.Proof) throws {
        let record = try record(["ETag": "\"v\""], proof: proof)
        #expect(try FileRecord(text: record.text) == record)
        let directory = try TemporaryDirectory()
        let url = directory.file("a")
        try Data("0123".utf8).write(to: url)
        let file = try #require(try DownloadFolder(path: directory.url.path).open("a"))
        let note = try self.record(of: file, request(), proof: proof, fields: ["ETag": "\"v\""])
        try file.note(try note.text, as: FileRecord.attribute)
        let verdict = try FileVerdict(of: url, for: try request(), as: RequestIdentity(try request()))
        let condition = try FileCondition(
            for: url,
            DownloadRequest(try request()),
            digests: []
        )
        #expect(
            verdict
                == (proof == .complete ? .complete : proof == .overlap ? .joined : .perhapsIncomplete)
        )
        // A tag that was never proven to be the file's is not asked with.
        #expect((condition == nil) == (proof != .complete))
    }

    @Test func everyProofOfADownloadHasItsWord() throws {
        let digest = try FileDigest.of(Data(), algorithm: .sha256)
        #expect(FileRecord.Proof(.digest(digest)) == .complete)
        #expect(FileRecord.Proof(.length) == .complete)
        #expect(FileRecord.Proof(.range(0..<1)) == .complete)
        #expect(FileRecord.Proof(.overlap) == .overlap)
        #expect(FileRecord.Proof(.unverifiable) == .unverifiable)
    }

    @Test func equalRequestsHaveDifferentRecords() throws {
        let (one, other) = (try record(), try record())
        for digest in [\.salt, \.location, \.sender, \.selection] as [KeyPath<RequestDigests, String>] {
            #expect(one.asked[keyPath: digest] != other.asked[keyPath: digest])
        }
    }

    @Test func distinguishesUsers() throws {
        func identity(
            _ address: String = "http://h/a",
            _ fields: [String: String] = [:],
            _ credential: Credential? = nil
        ) throws -> RequestIdentity {
            RequestIdentity(try request(address, fields: fields), credential: credential)
        }
        func isSameSender(_ one: RequestIdentity, _ other: RequestIdentity) throws -> Bool {
            let texts = try [one, other].map { DownloadRequest(try request(), as: $0).texts(varying: []) }
            return try RequestDigests(of: texts[0]).match(texts[1]).contains(.sender)
        }
        let identities = try [
            identity(), identity("http://alice:1@h/a"), identity("http://bob:1@h/a"),
            identity("http://h/a", ["Authorization": "Bearer alice"]),
            identity("http://h/a", ["Authorization": "Bearer bob"]),
            identity("http://h/a", ["X-Api-Key": "alice"]),
            identity("http://h/a", [:], Credential(bearerToken: "alice")),
            identity("http://h/a", [:], .systemTickets),
        ]
        for (index, one) in identities.enumerated() {
            for (number, other) in identities.enumerated() {
                #expect(try isSameSender(one, other) == (index == number), "\(index), \(number)")
            }
        }
        let alice = try identity("http://alice:1@h/a")
        // By whichever way, with whichever password. The address comes first, as it does when a server asks.
        let same = try [
            identity("http://alice:2@h/a", ["Accept": "text/plain"]),
            identity("http://h/a", [:], Credential(user: "alice", password: "3")),
            // alice:4, alice:5
            identity("http://h/a", ["Authorization": "Basic YWxpY2U6NA=="]),
            identity("http://h/a", ["authorization": "basic YWxpY2U6NQ=="]),
            identity("http://alice@h/a", [:], Credential(user: "bob", password: "3")),
        ]
        for other in same { #expect(try isSameSender(alice, other)) }
    }

    @Test(
        arguments: [
            ("User-Agent", ["User-Agent": "b"], .ofOtherRequest), ("User-Agent", [:], .ofOtherRequest),
            ("Referer", ["User-Agent": "a", "Referer": "http://h/"], .ofOtherRequest),
            ("Referer", ["User-Agent": "b"], .complete), ("*", ["User-Agent": "b"], .complete),
            ("Accept, User-Agent", ["User-Agent": "a", "Referer": "http://h/"], .complete),
        ] as [(String, [String: String], FileVerdict)]
    )
    func bindsTheFileToTheFieldsThatVaryNames(
        vary: String,
        fields: [String: String],
        verdict: FileVerdict
    ) throws {
        let directory = try TemporaryDirectory()
        let url = directory.file("a")
        try Data("0123".utf8).write(to: url)
        let file = try #require(try DownloadFolder(path: directory.url.path).open("a"))
        let request = try request(fields: ["User-Agent": "a"])
        let record = try record(
            of: file,
            request,
            varying: VaryingFields.names(in: ["Vary": vary]) ?? []
        )
        #expect(try FileRecord(text: record.text) == record)
        try file.note(try record.text, as: FileRecord.attribute)
        let other = try self.request(fields: fields)
        #expect(try FileVerdict(of: url, for: request, as: RequestIdentity(request)) == .complete)
        #expect(try FileVerdict(of: url, for: other, as: RequestIdentity(other)) == verdict)
    }

    /// The file of one verification of the server, for a request under another.
    @Test(
        arguments: [
            (nil, .standard, .complete), (.standard, nil, .complete),
            (.anyServer, .standard, .ofOtherRequest), (.anyServer, nil, .ofOtherRequest),
            (.standard, .anyServer, .complete), (.anyServer, .anyServer, .complete),
            (ServerVerification(text: "a"), .standard, .ofOtherRequest),
            (ServerVerification(text: "a"), ServerVerification(text: "a"), .complete),
            (ServerVerification(text: "a"), ServerVerification(text: "b"), .ofOtherRequest),
            (.standard, ServerVerification(text: "b"), .ofOtherRequest),
            (ServerVerification.standard.trusting(["x"]), .standard, .ofOtherRequest),
        ] as [(ServerVerification?, ServerVerification?, FileVerdict)]
    )
    func bindsTheFileToTheVerificationOfItsServer(
        written: ServerVerification?,
        asked: ServerVerification?,
        verdict: FileVerdict
    ) throws {
        let directory = try TemporaryDirectory()
        let url = directory.file("a")
        try Data("0123".utf8).write(to: url)
        let file = try #require(try DownloadFolder(path: directory.url.path).open("a"))
        let request = try request("https://h/a")
        let identity = RequestIdentity(request)
        let record = try record(of: file, request, under: written, fields: ["ETag": "\"v\""])
        try file.note(try record.text, as: FileRecord.attribute)
        #expect(try FileVerdict(of: url, for: request, as: identity, under: asked) == verdict)
        let question = DownloadRequest(request, as: identity, under: asked)
        let condition = try FileCondition(for: url, question, digests: [])
        #expect((condition != nil) == (verdict == .complete))
    }

    @Test func bindsTheFileToItsRequestAndItsBytes() throws {
        let directory = try TemporaryDirectory()
        let url = directory.file("a")
        func verdict(_ request: URLRequest) throws -> FileVerdict {
            try FileVerdict(of: url, for: request, as: RequestIdentity(request))
        }
        let request = try request()
        #expect(try verdict(request) == .nothing)
        try Data("0123".utf8).write(to: url)
        #expect(try verdict(request) == .unrecorded)
        let file = try #require(try DownloadFolder(path: directory.url.path).open("a"))
        let record = try record(of: file, request)
        try file.note(try record.text, as: FileRecord.attribute)
        #expect(try verdict(request) == .complete)
        // What does not select another representation does not count. The user does.
        #expect(try verdict(self.request("http://h/a#part", fields: ["User-Agent": "x"])) == .complete)
        #expect(try verdict(self.request("http://me:secret@h/a")) == .ofOtherRequest)
        #expect(try verdict(self.request(fields: ["Authorization": "Bearer x"])) == .ofOtherRequest)
        #expect(try verdict(self.request("http://h/a?1")) == .ofOtherRequest)
        #expect(try verdict(self.request(fields: ["Accept": "text/plain"])) == .ofOtherRequest)
        #expect(try verdict(self.request(fields: ["Host": "other.example"])) == .ofOtherRequest)
        #expect(try verdict(self.request(fields: ["Host": "H:80"])) == .complete)
        try file.setModified(1_000_000_000)
        #expect(try verdict(request) == .changed)
        try file.note(nil, as: FileRecord.attribute)
        #expect(try verdict(request) == .unrecorded)
    }

    /// What `rsync -aX`, `tar --xattrs` and a backup bring: bytes, times and attributes.
    @Test func aCopyWithItsAttributesIsTheFileOfAnotherProgram() throws {
        let directory = try TemporaryDirectory()
        let folder = try DownloadFolder(path: directory.url.path)
        func make(_ name: String) throws -> PartFile {
            let file = try #require(try folder.create(name))
            try file.write(Array("0123".utf8).span, at: 0)
            try file.setModified(1_700_000_000)
            return file
        }
        let request = try request()
        func verdict(_ name: String) throws -> FileVerdict {
            try FileVerdict(of: directory.file(name), for: request, as: RequestIdentity(request))
        }
        let file = try make("a")
        let note = try record(of: file, request).text
        try file.note(note, as: FileRecord.attribute)
        try make("b").note(note, as: FileRecord.attribute)
        #expect(try verdict("b") == .unrecorded)
        #expect(FileRecord.stamp(in: directory.file("b")) == nil)
        let question = DownloadRequest(request)
        #expect(try FileCondition(for: directory.file("b"), question, digests: []) == nil)
        // Another name is no copy.
        try folder.rename("a", to: "c")
        #expect(try verdict("c") == .complete)
    }

    /// Inodes are given again, and times of birth are shared.
    @Test(arguments: [(1, 0), (0, 1)] as [(UInt64, Int64)])
    func aRecordOfAnotherInodeOrTimeOfBirthIsNotBelieved(inode: UInt64, nanosecond: Int64) throws {
        let directory = try TemporaryDirectory()
        let file = try #require(try DownloadFolder(path: directory.url.path).create("a"))
        let request = try request()
        let right = try record(of: file, request)
        let birth = try #require(right.file.birth)
        let note = try FileRecord(
            DownloadRequest(request),
            file: LastingFileIdentity(
                inode: right.file.inode ^ inode,
                birth: FileTime(seconds: birth.seconds, nanoseconds: birth.nanoseconds ^ nanosecond)
            ),
            stamp: right.stamp,
            proof: .complete,
            fields: [:]
        )
        try file.note(try note.text, as: FileRecord.attribute)
        let url = directory.file("a")
        #expect(try FileVerdict(of: url, for: request, as: RequestIdentity(request)) == .unrecorded)
        try file.note(try right.text, as: FileRecord.attribute)
        #expect(try FileVerdict(of: url, for: request, as: RequestIdentity(request)) == .complete)
    }
}
