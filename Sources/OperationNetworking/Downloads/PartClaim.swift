internal import OperationNetworkingSystem

/// The treatment of a file that has the name of a partial file.
///
/// | Its trust  | Its lock                 | Claim                                                                    |
/// |------------|--------------------------|--------------------------------------------------------------------------|
/// | made here  | held                     | in use: another process found it first                                   |
/// | made here  | any other                | taken                                                                    |
/// | none       | any                      | another name: it is not known who made it                               |
/// | blank      | taken                    | made anew: its process died as it made it                                |
/// | unmarked   | taken                    | taken; its checkpoint says what it is worth                              |
/// | full       | taken                    | taken                                                                    |
/// | any other  | held                     | in use: no other user can have opened it                                 |
/// | any other  | the system has no locks  | another name: it may be being written                        |
enum PartClaim: Hashable, Sendable {
    case take
    case makeAnew
    case useOtherName
    /// The part is in use.
    case wait

    /// - Parameters:
    ///   - trust: of the file; `nil`: it was just made.
    ///   - lock: what came of locking it.
    init(_ trust: FileTrust?, lock: PartFile.Lock) {
        self =
            switch (trust, lock) {
            case (nil, .taken), (nil, .unsupported), (.unmarked?, .taken), (.full?, .taken): .take
            case (.blank?, .taken): .makeAnew
            case (nil, .held), (.blank?, .held), (.unmarked?, .held), (.full?, .held): .wait
            case (.none?, _), (_?, .unsupported): .useOtherName
            }
    }
}
