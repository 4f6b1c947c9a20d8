import ArgumentParser

/// The text of `--help`.
enum HelpText {
    static let examples = """
        opget fetches files over HTTP, several at a time.

        EXAMPLES:
          opget https://example.com/a.iso                  save it as a.iso
          opget -d downloads -j 8 https://example.com/{1..20}.jpg
                                                           20 files, 8 at once, into downloads/
          opget -i list.txt                                the URLs in list.txt
          opget -q -o - https://example.com/a.tar | tar x  to standard output, for another program
          opget -o b.iso https://example.com/a.iso         under another name
          opget --checksums SHA256SUMS -i list.txt         check every file against the list
          opget -N --limit-rate 500K -i list.txt           only changed files, with a speed limit

        Until a file is complete it is called NAME.part, and NAME.part.resume describes its bytes. If
        opget is interrupted, run the same command again: it resumes if the server proves that the file
        is unchanged; otherwise it starts over and says why. As another user, or with another token, it
        resumes only if the ETag is strong and the last 64 KiB are equal.

        An existing file counts as complete if opget saved it from the same address, with the same
        fields and as the same user (-H, -u, -n, --cert; cookies of a jar do not count), and it has not
        been changed since; or if it matches a given checksum. opget records this in an extended
        attribute of the file; on file systems without them, only a checksum helps. An empty file
        counts as missing. Any other file is left unchanged and reported as an error (11), unless you
        add one of these options:

          --overwrite  replaces it.
          -N           replaces it.
          -c           continues it if a checksum of the whole file is given, unless another request
                       saved it or other users may write to it.

        Progress and messages go to standard error.

        KEYS, while opget is in the foreground of a terminal:
          p         pauses and resumes everything
          q         stops, like Ctrl-C, and shows how to continue
          Ctrl-Z    suspends opget; fg continues, and so does bg, without drawing

        Keys are not read with -q, if the list comes from standard input, or if standard output is a
        pipe.

        SECRETS: other users can see a password on the command line for a moment, until opget has
        hidden it. -u USER without a password prompts for it. Scripts can use OPGET_PASSWORD,
        OPGET_PROXY_PASSWORD and OPGET_PASSPHRASE (for a client key); -n reads ~/.netrc.

        ENVIRONMENT:
          http_proxy, https_proxy, all_proxy, no_proxy
                    the proxy, and the servers to reach without it
          SSL_CERT_FILE, SSL_CERT_DIR, CURL_CA_BUNDLE
                    the certificates to trust
          NO_COLOR  if not empty: no colors; CLICOLOR_FORCE, FORCE_COLOR: colors everywhere
          COLUMNS   the width to draw in, instead of that of the terminal
          TERM      dumb: no drawing; CI: no drawing either, except with --progress always
        """

    static var exitCodes: String {
        let lines = Outcome.table.map { row in
            "  \(row.code)\(String(repeating: " ", count: 8 - row.code.count))\(row.meaning)"
        }
        return "EXIT CODES (if several apply, the first one listed after 0):\n"
            + lines.joined(separator: "\n")
    }

    /// The whole text, which begins with the examples.
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
