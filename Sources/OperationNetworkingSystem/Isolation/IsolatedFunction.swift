/// Calls an `@isolated(any)` closure, whose isolation is known only at run time. The current thread must
/// match the isolation: the main queue for the main actor, any thread without isolation. A debug build traps
/// if it does not.
///
/// Swift can only call such a closure from a task, and a dispatch queue has none. A task that starts
/// immediately (`Task.immediate`) would make the call on the queue, too, but costs 2,700 instructions and two
/// allocations.
///
/// Reinterprets the closure's memory as a closure without isolation. Both consist of a function pointer and a
/// context, with the same layout and calling convention; they differ in the isolation at the beginning of the
/// context, which only `isolation` reads. `MainActor.assumeIsolated` of the standard library relies on the
/// same. Both are stored in structures with the same generic parameters, so that their arguments are passed
/// in the same way.
@inlinable
package func callAssumingIsolation<each Argument, Result>(
    of closure: @escaping @isolated(any) @Sendable (repeat each Argument) -> Result,
    _ argument: repeat each Argument
) -> Result {
    #if DEBUG
        closure.isolation?.assertIsolated()
    #endif
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
