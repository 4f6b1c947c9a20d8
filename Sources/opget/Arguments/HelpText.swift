import ArgumentParser

/// The text of `--help`.
enum HelpText {
    static let examples = """
        opget fetches files over HTTP, several at a time.

        EXAMPLES:
          opget https://example.com/a.iso                  save it as a.iso
          opget -d downloads -j 8 https://example.com/{1..20}.jpg
                                                           20 files, 8 at once, into downloads/
          opget -i list.txt                                the addresses in list.txt
          opget -q -o - https://example.com/a.tar | tar x  to standard output, for another program
          opget -o b.iso https://example.com/a.iso         under another name
          opget --checksums SHA256SUMS -i list.txt         every file has to be what the list says
          opget -N --limit-rate 500K -i list.txt           only what has changed, and slowly

        A file has the name NAME.part until it is complete, and NAME.part.resume beside it says what its
        bytes are. Whatever stops opget, the same command goes on from there, if the server proves that
        it still has the same file; if not, it starts over and says why. As another user, or with
        another token, it goes on only under a strong tag, and compares the last 64 KiB.

        An existing file counts as done if opget saved it from the same address, with the
        same fields and as the same user (-H, -u, -n, --cert; cookies of a jar do not count), and it was
        not changed since, or if it has the checksum that is given. What opget has to know for that is
        kept with the file, in an extended attribute; where the file system keeps none, only a checksum
        helps. An empty file counts as absent. Any other file stays as it is, and is an error (11):

          --overwrite  replaces it.
          -N           replaces it.
          -c           goes on with it if the checksum is given, which the whole has to have; not if
                       another request made it, or other users may write it.

        Progress and messages go to standard error.

        KEYS, while opget is in the foreground of a terminal:
          p         pauses everything, and resumes it
          q         stops, as Ctrl-C does, and says how to go on
          Ctrl-Z    gives the terminal back; fg goes on, and so does bg, which draws nothing

        Keys mean nothing with -q, when the list is read from standard input, and when standard output
        is a pipe.

        SECRETS: a password on the command line is hidden from others as soon as opget has read it,
        which is a moment too late. -u USER alone asks for it; OPGET_PASSWORD, OPGET_PROXY_PASSWORD and
        OPGET_PASSPHRASE (of a client's key) are for programs; -n takes it from ~/.netrc.

        ENVIRONMENT:
          http_proxy, https_proxy, all_proxy, no_proxy
                    the proxy, and the servers that are reached without it
          SSL_CERT_FILE, SSL_CERT_DIR, CURL_CA_BUNDLE
                    the certificates to trust
          NO_COLOR  not empty: no colors; CLICOLOR_FORCE, FORCE_COLOR: colors everywhere
          COLUMNS   how wide to draw, instead of as wide as the terminal
          TERM      dumb: nothing is drawn; CI: nothing is drawn either, unless --progress always
        """

    static var exitCodes: String {
        let lines = Outcome.table.map { row in
            "  \(row.code)\(String(repeating: " ", count: 8 - row.code.count))\(row.meaning)"
        }
        return "EXIT CODES (when several apply, the one that comes first here after 0):\n"
            + lines.joined(separator: "\n")
    }

    /// Everything, the examples first.
    static var text: String {
        let options = OpgetCommand.helpMessage(columns: 98)
        return [examples, options, exitCodes].map { $0.trimmingNewlines() }.joined(separator: "\n\n") + "\n"
    }
}

extension String {
    fileprivate func trimmingNewlines() -> String {
        var text = self[...]
        while text.last == "\n" { text.removeLast() }
        return String(text)
    }
}
