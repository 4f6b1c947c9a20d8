internal import OperationNetworkingSystem

/// What becomes of a file that has the name of a partial file.
///
/// | Its trust  | Its lock                 | Bytes | Claim                                                            |
/// |------------|--------------------------|-------|------------------------------------------------------------------|
/// | made here  | any                      | -     | taken; if held: another process found it first                   |
/// | none       | any                      | any   | another name: its owner can change it, and hold it as he likes   |
/// | readable   | taken                    | some  | taken, and made private; its checkpoint says what it is worth    |
/// | readable   | taken                    | none  | made anew: another user may have it open, and lock it later      |
/// | readable   | held                     | any   | another name: another user may hold it for ever                  |
/// | full       | taken                    | any   | taken                                                            |
/// | full       | held                     | any   | in use: no other user can have opened it                         |
/// | any        | the system has no locks  | any   | another name: whether it is being written, nobody can tell       |
enum PartClaim: Hashable, Sendable {
    case take
    case makeAnew
    case useOtherName
    /// It is in use.
    case wait

    /// - Parameters:
    ///   - trust: of the file; `nil`: it was just made.
    ///   - lock: what came of locking it.
    ///   - isEmpty: whether it has no bytes.
    init(_ trust: FileTrust?, lock: PartFile.Lock, isEmpty: Bool) {
        self =
            switch (trust, lock) {
            case (nil, .taken), (nil, .unsupported), (.full?, .taken): .take
            case (nil, .held), (.full?, .held): .wait
            case (.readable?, .taken): isEmpty ? .makeAnew : .take
            case (.none?, _), (.readable?, .held), (_?, .unsupported): .useOtherName
            }
    }
}
