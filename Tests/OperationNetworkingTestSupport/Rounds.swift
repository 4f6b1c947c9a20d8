import Foundation

/// The number of tries of a race. Under a sanitizer, which `make` names in the environment, every step takes
/// ten times as long, and sees more: a tenth is done there.
enum Rounds {
    static let isUnderSanitizer =
        ProcessInfo.processInfo.environment["OPERATIONNETWORKING_SANITIZER"]?.isEmpty == false

    static func count(_ count: Int) -> Int {
        isUnderSanitizer ? max(1, count / 10) : count
    }
}
