internal import Foundation
internal import OperationNetworkingSystem

/// A stack that is deep enough for decoders.
///
/// A decoder calls itself once for each level of its input, through the decoded type's own code. Foundation
/// stops at 512 levels, but a type that holds itself needs more than the 512 KiB of a dispatch thread well
/// before that, and the process dies.
enum DecodingStack {
    /// 32 KiB for each of Foundation's 512 levels. Untouched pages cost nothing.
    private static let size = 16 << 20

    /// Bodies up to this size have too few levels to need it: a level has two bytes at least.
    private static let sizeWithoutDepth = 256

    /// Runs `work` on `data` with such a stack, and waits for it. Takes a tenth of a millisecond more than
    /// `work`.
    static func run<Value: Sendable>(
        on data: Data,
        _ work: @escaping @Sendable (Data) throws -> Value
    ) throws -> Value {
        guard data.count > sizeWithoutDepth else { return try work(data) }
        return try run { try work(data) }
    }

    private static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) throws -> Value {
        let result = Locked<Result<Value, any Error>?>(nil)
        try DeepStack.run(size: size) {
            let outcome = Result(catching: work)
            result.withLock { $0 = outcome }
        }
        return try result.withLock { $0 }?.get() ?? work()
    }
}
