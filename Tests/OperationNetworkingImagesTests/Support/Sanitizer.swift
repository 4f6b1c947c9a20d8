import Foundation

/// The sanitizer that the tests run under: its shadow memory leaves no room for a limit of addresses.
enum Sanitizer {
    static let isOn = ProcessInfo.processInfo.environment["OPERATIONNETWORKING_SANITIZER"] != nil
}
