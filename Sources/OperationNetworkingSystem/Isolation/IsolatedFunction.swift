/// Calls a closure whose isolation is known only when the program runs, `@isolated(any)`. This thread has to be where
/// its isolation says: on the main queue for the main actor, anywhere without one.
///
/// Swift calls such a closure from a task only, and a dispatch queue has none. A task that is made for one call and
/// starts at once (`Task.immediate`) makes it on the queue, too, but takes 2,700 instructions and two allocations.
///
/// This reads the closure's memory as that of a closure without isolation. Both are a function pointer and a context,
/// with one layout and one calling convention; they differ in the isolation, which the context of the first begins
/// with, and which nothing but `isolation` reads. `MainActor.assumeIsolated` of the standard library relies on the
/// same. Both stand in structures with the same generic parameters, so their arguments are passed in the same way.
@inlinable
package func callAssumingIsolation<each Argument, Result>(
    of closure: @escaping @isolated(any) @Sendable (repeat each Argument) -> Result,
    _ argument: repeat each Argument
) -> Result {
    let isolated = IsolatedFunction<repeat each Argument, Result>(closure)
    precondition(
        MemoryLayout<IsolatedFunction<repeat each Argument, Result>>.size
            == MemoryLayout<PlainFunction<repeat each Argument, Result>>.size,
        "The two kinds of function have different representations"
    )
    // Loading retains the context.
    let plain = withUnsafeBytes(of: isolated) {
        $0.load(as: PlainFunction<repeat each Argument, Result>.self)
    }
    return plain.function(repeat each argument)
}

@usableFromInline
package struct IsolatedFunction<each Argument, Result>: Sendable {
    @usableFromInline
    package let function: @isolated(any) @Sendable (repeat each Argument) -> Result

    @inlinable
    package init(_ function: @escaping @isolated(any) @Sendable (repeat each Argument) -> Result) {
        self.function = function
    }
}

@usableFromInline
package struct PlainFunction<each Argument, Result>: Sendable {
    @usableFromInline
    package let function: @Sendable (repeat each Argument) -> Result
}
