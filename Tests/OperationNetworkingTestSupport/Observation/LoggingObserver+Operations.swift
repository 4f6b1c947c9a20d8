@testable import OperationNetworking

extension LoggingObserver {
    /// The number of operations that it remembers, and so the memory that it takes.
    var operationCount: Int { entryCount }
}
