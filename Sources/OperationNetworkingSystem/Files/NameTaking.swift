/// The next step when a complete file is to get a name, and an operation of this process may write the file
/// that has it, or may be about to make one: a value, from a look at the name, a claim (``FileClaim``) and a
/// second look.
///
/// | First look at the name      | Claim on that file     | Second look            | Follows     |
/// |-----------------------------|------------------------|------------------------|-------------|
/// | nothing                     | -                      | -                      | `takeFree`  |
/// | a link, directory or device | -                      | -                      | `replace`   |
/// | a file                      | another operation's    | -                      | `inUse`     |
/// | a file                      | held                   | the same file          | `replace`   |
/// | a file                      | held                   | anything else, nothing | `inUse`     |
///
/// A name that changes under the looks is not looked at again: something else is writing there.
///
/// Who writes a file opens it, claims it, and then looks whether it still has the name (``OutputFile``). So
/// one that begins on a free name makes a file, for which `takeFree` fails; one that begins on a file that is
/// to be replaced finds its claim taken.
package enum NameTaking: Hashable, Sendable {
    /// The file gets the name in a step that fails if anything has it by then.
    case takeFree
    /// The file gets the name, whatever has it. While the claim is held, nothing else of this process can get
    /// the name.
    case replace
    /// Another operation writes the file, or something else has got the name between the two looks.
    case inUse

    /// The outcome of the claim on the file that had the name at the first look.
    package enum Claim: Hashable, Sendable {
        /// The holder of the name was no file.
        case none
        case taken
        /// The file is held here; this is what had the name after that.
        case held(NameStatus)
    }

    /// - Parameters:
    ///   - name: what the first look found.
    ///   - claim: what came of the claim.
    package init(_ name: NameStatus, claim: Claim) {
        self =
            switch (name, claim) {
            case (.nothing, _): .takeFree
            case (.directory, _), (.symbolicLink, _), (.other, _): .replace
            case (.file(let first), .held(.file(let second))) where first.identity == second.identity:
                .replace
            case (.file, .taken), (.file, .held), (.file, .none): .inUse
            }
    }
}

extension DownloadFolder {
    /// Gives a complete file a name, in the place of what has it, unless an operation of this process writes
    /// that.
    /// - Parameters:
    ///   - old: its name now.
    ///   - new: its next one.
    ///   - file: the file itself.
    ///   - check: looks whether what has the name may be replaced. Nothing of this process begins to write it
    ///     meanwhile.
    /// - Throws: ``FileClaim/Taken``; what `check` throws; `SystemError`. What has the new name keeps it
    ///   then.
    package func rename(
        _ old: String,
        replacing new: String,
        of file: PartFile,
        check: () throws -> Void = {}
    ) throws {
        var first = try status(of: new)
        var held: FileClaim?
        var claim = NameTaking.Claim.none
        // Open until the claim ends: when it has lost its name, another new file could get its inode, and would be
        // taken for one that is written.
        var claimed: PartFile?
        defer { withExtendedLifetime(claimed) { held = nil } }
        if case .file = first {
            let opened: PartFile
            do {
                opened = try identify(new)
            } catch let error as SystemError where error.code == SystemError.missing {
                throw FileClaim.Taken()
            }
            let status = try opened.status
            claimed = opened
            first = .file(status)
            held = FileClaim(status.identity)
            claim = .taken
        }
        try check()
        if held != nil { claim = .held(try status(of: new)) }
        switch NameTaking(first, claim: claim) {
        case .takeFree:
            do {
                try renameExclusively(old, to: new, of: file)
            } catch let error as SystemError where error.code == SystemError.exists {
                throw FileClaim.Taken()
            }
        case .replace: try rename(old, to: new)
        case .inUse: throw FileClaim.Taken()
        }
    }
}
