import CoreFoundation
import Foundation

extension RunLoop.Mode {
    /// The mode for CoreFoundation, which recognizes the common modes by the address of their name.
    var name: CFRunLoopMode {
        switch self {
        case .common: kCFRunLoopCommonModes
        case .default: kCFRunLoopDefaultMode
        default:
            rawValue.withCString {
                CFStringCreateWithCString(nil, $0, CFStringBuiltInEncodings.UTF8.rawValue)
            }
        }
    }
}
