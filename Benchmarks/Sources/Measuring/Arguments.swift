public import Foundation

/// The arguments of a piece of work, read one after the other.
public struct Arguments {
    private var rest: ArraySlice<String>

    /// Arguments without the program's name.
    public init(_ arguments: ArraySlice<String>) {
        rest = arguments
    }

    /// The next one.
    public mutating func next(_ name: String) throws -> String {
        guard let first = rest.popFirst() else { throw WorkError.missing(name) }
        return first
    }

    /// A positive number.
    public mutating func number(_ name: String) throws -> Int {
        guard let number = Int(try next(name)), number > 0 else { throw WorkError.missing(name) }
        return number
    }

    /// The next one, an address.
    public mutating func url(_ name: String) throws -> URL {
        guard let url = URL(string: try next(name)) else { throw WorkError.missing(name) }
        return url
    }
}

/// Why a piece of work came to nothing.
public enum WorkError: Error {
    /// An argument, or a variable of the environment, is missing or is none.
    case missing(String)
    /// There is no such work.
    case unknown(String)
    /// A number of requests failed.
    case failed(Int)
    /// The system refused, with this `errno`.
    case system(Int32)
}
