/// A value that few owners have: where there is none, it takes the room of a reference.
///
/// A program may queue 100,000 operations, and most of what can be set on one never is.
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
