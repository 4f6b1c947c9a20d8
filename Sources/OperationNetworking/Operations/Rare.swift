/// A value that few owners have: an absent value takes the space of a reference.
///
/// A program may queue 100,000 operations, most of whose settings are never changed.
@propertyWrapper
struct Rare<Value> {
    fileprivate final class Box {
        let value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    private var box: Box?

    init() {}

    var wrappedValue: Value? {
        get { box?.value }
        set { box = newValue.map { Box($0) } }
    }
}

extension Rare: Sendable where Value: Sendable {}

extension Rare.Box: Sendable where Value: Sendable {}
