/// The owner of settings of transfers: an operation, for its own, or a manager, for those of the operations
/// that it makes from now on.
///
/// Each public property of ``TransferSettings`` is a property of the owner, too:
///
/// ```swift
/// manager.retryPolicy = RetryPolicy()
/// operation.connectTimeout = 5
/// ```
///
/// Settings may be read and set on any thread. Those of an operation are set before it is in a
/// queue, or is started.
@dynamicMemberLookup
public protocol TransferConfigurable: AnyObject, Sendable {
    /// Reads the settings, under the owner's lock. Use the properties instead, unless several have to belong
    /// together.
    func readTransferSettings<Value>(_ body: (TransferSettings) -> Value) -> Value
    /// Changes the settings, under the owner's lock. Use the properties instead, unless several have to
    /// change together.
    func changeTransferSettings(_ body: (inout TransferSettings) -> Void)
}

extension TransferConfigurable {
    /// One setting. The compiler writes this for `manager.retryPolicy`.
    public subscript<Value>(
        dynamicMember setting: WritableKeyPath<TransferSettings, Value>
    ) -> Value {
        get { readTransferSettings { $0[keyPath: setting] } }
        set { changeTransferSettings { $0[keyPath: setting] = newValue } }
    }
}
