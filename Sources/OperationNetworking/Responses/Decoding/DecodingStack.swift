internal import Foundation
import FoundationNetworking
internal import OperationNetworkingSystem

/// A stack that is deep enough for decoders.
///
/// A decoder calls itself once for each level of its input, through the decoded type's own code. Foundation
/// stops at 512 levels, but a type that holds itself needs more than the 512 KiB of a dispatch thread well
/// before that, and the process dies.
///
/// | Body                                                | Decoded on                |
/// |-----------------------------------------------------|---------------------------|
/// | up to 256 octets                                    | the present stack         |
/// | JSON in UTF-8, up to 64 KiB, with up to 16 levels   | the present stack         |
/// | any other                                           | a thread with 16 MiB      |
enum DecodingStack {
    /// The process can have no more threads: nothing is known of the body.
    struct Shortage: Error {
        let cause: SystemError

        func error(for url: URL?) -> URLError {
            URLError(
                .resourceUnavailable,
                url: url,
                sentence: URLError.hasNoThreads + "the body could not be decoded",
                underlying: NSError(domain: NSPOSIXErrorDomain, code: Int(cause.code))
            )
        }
    }

    /// 32 KiB for each of Foundation's 512 levels. Untouched pages cost nothing.
    private static let size = 16 << 20

    /// Bodies up to this size have too few levels to need it: a level has two bytes at least.
    private static let sizeWithoutDepth = 256
    private static let shallowLevels = 16
    /// In longer bodies the levels are not counted: they take longer than a thread.
    private static let sizeToLookAt = 64 << 10

    /// Runs `work` on `data` with such a stack, and waits for it. Takes a tenth of a millisecond more than
    /// `work`.
    /// - Throws: ``Shortage``, or what `work` throws.
    static func run<Value: Sendable>(
        on data: Data,
        _ work: @escaping @Sendable (Data) throws -> Value
    ) throws -> Value {
        guard data.count > sizeWithoutDepth else { return try work(data) }
        return try run { try work(data) }
    }

    /// The same for a JSON text; most have few levels, and need no other stack.
    static func run<Value: Sendable>(
        onJSON text: Data,
        _ work: @escaping @Sendable (Data) throws -> Value
    ) throws -> Value {
        guard !isShallow(text.span) else { return try work(text) }
        return try run(on: text, work)
    }

    private static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) throws -> Value {
        let result = Locked<Result<Value, any Error>?>(nil)
        do throws(SystemError) {
            try DeepStack.run(size: size) {
                let outcome = Result(catching: work)
                result.withLock { $0 = outcome }
            }
        } catch {
            throw Shortage(cause: error)
        }
        return try result.withLock { $0 }?.get() ?? work()
    }

    /// Whether a JSON text has few levels. Only of one that every parser takes apart alike: in UTF-8, and
    /// without the comments and the apostrophes of JSON5.
    static func isShallow(_ text: Span<UInt8>) -> Bool {
        guard text.count <= sizeToLookAt else { return false }
        var level = 0
        var index = 0
        var isInText = false
        while index < text.count {
            let octet = text[index]
            index += 1
            switch octet {
            case 0, 0xFE, 0xFF: return false  // UTF-16 or UTF-32
            case UInt8(ascii: "\\") where isInText: index += 1
            case UInt8(ascii: "\""): isInText.toggle()
            case _ where isInText: break
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                level += 1
                guard level <= shallowLevels else { return false }
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                level -= 1
                guard level >= 0 else { return false }
            case UInt8(ascii: "/"), UInt8(ascii: "'"): return false
            default: break
            }
        }
        return true
    }
}
