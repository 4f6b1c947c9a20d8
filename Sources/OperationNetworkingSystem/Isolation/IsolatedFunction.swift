/// Functions whose isolation is known when the program runs, `@isolated(any)`, as functions that are
/// called on a queue.
///
/// Swift calls such a function from a task only, and a task has no dispatch queue. The two kinds have one
/// representation and one calling convention, but for the isolation, which the context of the first kind
/// begins with: that is what the standard library relies on, too, in `MainActor.assumeIsolated`. So a wrapped
/// function can be read as a plain one, as long as the caller is where its isolation says.
///
/// The wrappers are read, not the functions: a field has the representation of its own type, and a generic
/// value would have a thunk.
package enum IsolatedFunction {
    /// The function in `wrapped`, to be called only where its isolation allows it.
    ///
    /// - Parameters:
    ///   - wrapped: a value whose only field is a function.
    ///   - type: a type whose only field is the same function without isolation.
    /// - Returns: the same function.
    @inlinable
    package static func plain<Isolated: Sendable, Plain: Sendable>(
        _ wrapped: Isolated,
        as type: Plain.Type
    ) -> Plain {
        precondition(MemoryLayout<Isolated>.size == MemoryLayout<Plain>.size, "Not the same function")
        // Loading retains the context.
        return withUnsafeBytes(of: wrapped) { $0.load(as: Plain.self) }
    }

    /// A function without arguments.
    package struct Nullary<Result>: Sendable {
        private struct Plain: Sendable { let body: @Sendable () -> Result }

        private let body: @isolated(any) @Sendable () -> Result

        package init(_ body: @escaping @isolated(any) @Sendable () -> Result) {
            self.body = body
        }

        /// Without its isolation.
        package var plain: @Sendable () -> Result {
            IsolatedFunction.plain(self, as: Plain.self).body
        }
    }

    /// A function of one argument.
    package struct Unary<Argument, Result>: Sendable {
        private struct Plain: Sendable { let body: @Sendable (Argument) -> Result }

        private let body: @isolated(any) @Sendable (Argument) -> Result

        package init(_ body: @escaping @isolated(any) @Sendable (Argument) -> Result) {
            self.body = body
        }

        /// Without its isolation.
        package var plain: @Sendable (Argument) -> Result {
            IsolatedFunction.plain(self, as: Plain.self).body
        }
    }

    /// A function of two arguments.
    package struct Binary<First, Second, Result>: Sendable {
        private struct Plain: Sendable { let body: @Sendable (First, Second) -> Result }

        private let body: @isolated(any) @Sendable (First, Second) -> Result

        package init(_ body: @escaping @isolated(any) @Sendable (First, Second) -> Result) {
            self.body = body
        }

        /// Without its isolation.
        package var plain: @Sendable (First, Second) -> Result {
            IsolatedFunction.plain(self, as: Plain.self).body
        }
    }

    /// A function of three arguments.
    package struct Ternary<First, Second, Third, Result>: Sendable {
        private struct Plain: Sendable { let body: @Sendable (First, Second, Third) -> Result }

        private let body: @isolated(any) @Sendable (First, Second, Third) -> Result

        package init(_ body: @escaping @isolated(any) @Sendable (First, Second, Third) -> Result) {
            self.body = body
        }

        /// Without its isolation.
        package var plain: @Sendable (First, Second, Third) -> Result {
            IsolatedFunction.plain(self, as: Plain.self).body
        }
    }

    /// A function of four arguments.
    package struct Quaternary<First, Second, Third, Fourth, Result>: Sendable {
        private struct Plain: Sendable { let body: @Sendable (First, Second, Third, Fourth) -> Result }

        private let body: @isolated(any) @Sendable (First, Second, Third, Fourth) -> Result

        package init(_ body: @escaping @isolated(any) @Sendable (First, Second, Third, Fourth) -> Result) {
            self.body = body
        }

        /// Without its isolation.
        package var plain: @Sendable (First, Second, Third, Fourth) -> Result {
            IsolatedFunction.plain(self, as: Plain.self).body
        }
    }
}
