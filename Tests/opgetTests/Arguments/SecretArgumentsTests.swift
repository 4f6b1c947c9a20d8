import Testing

@testable import opget

@Suite struct SecretArgumentsTests {
    /// The command line that `ps` shows, with `*` for each byte that is hidden.
    private func hidden(_ arguments: [String]) -> [String] {
        let secrets = SecretArguments(["opget"] + arguments)
        return arguments.enumerated().map { number, argument in
            var bytes = Array(argument.utf8)
            for index in (secrets.ranges[number + 1] ?? []).joined() { bytes[index] = UInt8(ascii: "*") }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    @Test(
        arguments: [
            (["-u", "me:secret"], ["-u", "me:******"]),
            (["-u", "me:a:b"], ["-u", "me:***"]),
            (["--user", "me:secret"], ["--user", "me:******"]),
            (["--user=me:secret"], ["--user=me:******"]),
            (["-ume:secret"], ["-ume:******"]),
            (["-u=me:secret"], ["-u=me:******"]),
            (["-qu", "me:secret"], ["-qu", "me:******"]),
            (["-u", "me"], ["-u", "me"]),
            (["-u", "me:"], ["-u", "me:"]),
            (["-u", "mé:geheim"], ["-u", "mé:******"]),
            (["--proxy-user", "me:secret"], ["--proxy-user", "me:******"]),
            (["-x", "http://me:secret@proxy:3128"], ["-x", "http://*********@proxy:3128"]),
            (["-x", "me:secret@proxy"], ["-x", "*********@proxy"]),
            (["--proxy=me:secret@proxy"], ["--proxy=*********@proxy"]),
            (["-H", "Authorization: Bearer abc"], ["-H", "Authorization:***********"]),
            (["--header=X-Key: abc"], ["--header=X-Key:****"]),
            (["https://me:secret@host/a"], ["https://*********@host/a"]),
            (["https://me:se@cret@host/a@b"], ["https://**********@host/a@b"]),
            (["https://host/a@b?c=d@e"], ["https://host/a@b?c=d@e"]),
            (["-o", "me@host", "-d", "a:b"], ["-o", "me@host", "-d", "a:b"]),
            (["--pin", "sha256//abc"], ["--pin", "sha256//abc"]),
            (["--json", "-u", "me:secret"], ["--json", "-u", "me:******"]),
            (["--netrc", "--user=me:secret"], ["--netrc", "--user=me:******"]),
            (["--insecure", "-H", "A: b"], ["--insecure", "-H", "A:**"]),
            (["--overwrite", "-x", "me:secret@proxy"], ["--overwrite", "-x", "*********@proxy"]),
            (["-ou", "-u", "me:secret"], ["-ou", "-u", "me:******"]),
            (["-u", "-u", "me:secret"], ["-u", "-u", "me:******"]),
            (["-q", "http://me:secret@host/"], ["-q", "http://*********@host/"]),
            (["--dir", "http://me:secret@host/"], ["--dir", "http://*********@host/"]),
        ] as [([String], [String])]
    )
    func whatIsSecretIsHidden(arguments: [String], shown: [String]) {
        #expect(hidden(arguments) == shown)
        #expect(SecretArguments(["opget"] + arguments).isEmpty == (arguments == shown))
    }

    @Test(arguments: [
        ["-zume:hunter2"], ["-qzume:hunter2"], ["-xhttp://me:hunter2@proxy", "--bogus"], ["-zHKey:hunter2"],
        ["-ume:hunter2", "--bogus"], ["-j", "-ume:hunter2"], ["-jume:hunter2"], ["-qj=ume:hunter2"],
    ])
    func aMistakeIsExplainedWithoutTheSecret(arguments: [String]) throws {
        let failure = #expect(throws: Failure.self) { try OpgetCommand(arguments: arguments + ["http://h/"]) }
        #expect(failure?.outcome == .usage)
        #expect(failure?.sentence.contains("hunter2") == false)
    }

    @Test(arguments: [
        ("http://h/a@b", "http://h/a@b"), ("ftp://me:secret@h/", "ftp://*********@h/"),
        ("http://me:secret@/", "http://*********@/"), ("me:secret@h/a", "*********@h/a"),
        // The password of a malformed address may have anything in it.
        ("http://me:se/cret@h/", "http://**********@h/"), ("", ""), ("no address", "no address"),
    ])
    func anAddressIsRepeatedWithoutItsPassword(address: String, shown: String) {
        #expect(SecretArguments.hiding(inAddress: address) == shown)
    }
}
