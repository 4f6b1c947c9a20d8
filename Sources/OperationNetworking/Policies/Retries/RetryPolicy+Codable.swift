import Foundation

extension RetryPolicy: Codable {
    // Old names stay the keys: archives of earlier processes have them.
    private enum CodingKeys: String, CodingKey {
        case maximumRetries, timeBudget, initialDelay, longestDelay, longestWait, methods, statuses,
            errorCodes
    }

    /// A policy from an earlier process. Error codes are numbers: `URLError.Code` is not `Codable`
    /// everywhere.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            maximumRetries: try values.decode(Int.self, forKey: .maximumRetries),
            timeBudget: try values.decodeIfPresent(ArchivedSeconds.self, forKey: .timeBudget)?.value
        )
        initialDelay = try values.decode(ArchivedSeconds.self, forKey: .initialDelay).value
        maximumDelay = try values.decode(ArchivedSeconds.self, forKey: .longestDelay).value
        maximumWait = try values.decode(ArchivedSeconds.self, forKey: .longestWait).value
        methods = try values.decode(Set<String>.self, forKey: .methods)
        statusCodes = try values.decode(Set<Int>.self, forKey: .statuses)
        errorCodes = Set(
            try values.decode([Int].self, forKey: .errorCodes).compactMap(URLError.Code.init(rawValue:))
        )
    }

    /// Sets are written in order, so that equal policies are written alike.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(maximumRetries, forKey: .maximumRetries)
        try values.encodeIfPresent(timeBudget.map(ArchivedSeconds.init), forKey: .timeBudget)
        try values.encode(ArchivedSeconds(initialDelay), forKey: .initialDelay)
        try values.encode(ArchivedSeconds(maximumDelay), forKey: .longestDelay)
        try values.encode(ArchivedSeconds(maximumWait), forKey: .longestWait)
        try values.encode(methods.sorted(), forKey: .methods)
        try values.encode(statusCodes.sorted(), forKey: .statuses)
        try values.encode(errorCodes.map(\.rawValue).sorted(), forKey: .errorCodes)
    }
}
