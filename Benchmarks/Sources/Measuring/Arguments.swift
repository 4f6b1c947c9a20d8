import Foundation

/// The arguments of a piece of work, read one after the other.
struct Arguments {
    private var rest: ArraySlice<String>

    init(_ arguments: ArraySlice<String>) {
        rest = arguments
    }

    mutating func next(_ name: String) throws -> String {
        guard let first = rest.popFirst() else { throw WorkloadError.missing(name) }
        return first
    }

    mutating func number(_ name: String) throws -> Int {
        guard let number = Int(try next(name)), number > 0 else { throw WorkloadError.missing(name) }
        return number
    }

    mutating func url(_ name: String) throws -> URL {
        guard let url = URL(string: try next(name)) else { throw WorkloadError.missing(name) }
        return url
    }
}

enum WorkloadError: Error {
    case missing(String)
    case unknown(String)
    case failed(Int)
}
