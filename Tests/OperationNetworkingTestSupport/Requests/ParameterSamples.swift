import Foundation

@testable import OperationNetworking

/// Any value as a parameter. Callers of the library can do the same by mistake, with an object of Foundation.
func sendable(_ value: Any) -> any Sendable {
    func cast<Value>(_ value: Any, to type: Value.Type) -> Value? { value as? Value }
    return cast(value, to: (any Sendable).self) ?? NSNull()
}

/// Empty arrays in one another; few enough to be released without filling the stack.
func nestedArrays(_ depth: Int) -> any Sendable {
    var array: [any Sendable] = []
    for _ in 1..<depth { array = [array] }
    return array
}

/// An `Encodable` chain as long as wanted.
final class Chain: Encodable, @unchecked Sendable {
    // @unchecked: a test has it for itself.
    private var next: Chain?
    private var tail: [Chain] = []

    private enum CodingKeys: CodingKey {
        case next
    }

    /// The first of `length` links; the last one leads back to it if they are to be a circle.
    static func make(length: Int, isCircle: Bool = false) -> Chain {
        let links = (0..<length).map { _ in Chain() }
        for (link, next) in zip(links, links.dropFirst()) { link.next = next }
        if isCircle { links[length - 1].next = links[0] }
        links[0].tail = links
        return links[0]
    }

    /// Lets every link be released by itself.
    func open() {
        for link in tail { link.next = nil }
        tail = []
    }
}
