internal import OperationNetworkingSystem

/// The domains that have transfers, and the most recently used ones, whose connections may be reused. Used on
/// the network thread.
struct TransferDomains {
    /// The maximum number of idle domains that are kept. A process may use thousands of policies, identities
    /// and proxies, and each domain keeps idle connections.
    static let maximumIdle = 16

    private final class Member {
        let number: UInt32
        let trust: TrustDomain
        let domain: TransferDomain
        var transferCount = 1

        init(_ number: UInt32, _ trust: TrustDomain, _ domain: TransferDomain) {
            self.number = number
            self.trust = trust
            self.domain = domain
        }
    }

    private var numbers: [TrustDomain: UInt32] = [:]
    private var members: [UInt32: Member] = [:]
    /// The domains without a transfer, least recently used first.
    private var idle: [UInt32] = []
    private var lastNumber: UInt32 = 0
    /// The domain that was last taken: the next transfer usually uses the same.
    private var last: Member?

    /// All of them.
    var all: some Sequence<TransferDomain> { members.values.lazy.map(\.domain) }

    /// The number of domains.
    var count: Int { members.count }

    /// The domain with a number; `nil` if it has been removed.
    subscript(number: UInt32) -> TransferDomain? { members[number]?.domain }

    /// Takes the domain for another transfer; ``didEndTransfer(in:)`` returns it.
    ///
    /// - Parameters:
    ///   - trust: the properties that transfers in one domain share.
    ///   - make: makes a domain with the given number; called if there is none.
    /// - Returns: the domain and its number.
    /// - Throws: any error of `make`.
    mutating func takeForTransfer(
        _ trust: TrustDomain,
        make: (_ number: UInt32) throws(CurlError) -> TransferDomain
    ) throws(CurlError) -> (number: UInt32, domain: TransferDomain) {
        if let member = member(trust) {
            if member.transferCount == 0 { idle.removeAll { $0 == member.number } }
            member.transferCount += 1
            return (member.number, member.domain)
        }
        // After four billion, numbers of domains that still exist are skipped.
        repeat { lastNumber &+= 1 } while members[lastNumber] != nil
        let domain = try make(lastNumber)
        let member = Member(lastNumber, trust, domain)
        members[lastNumber] = member
        numbers[trust] = lastNumber
        last = member
        return (lastNumber, domain)
    }

    private mutating func member(_ trust: TrustDomain) -> Member? {
        if let last, last.trust == trust { return last }
        guard let number = numbers[trust], let member = members[number] else { return nil }
        last = member
        return member
    }

    private mutating func forget(_ number: UInt32) {
        guard let gone = members.removeValue(forKey: number) else { return }
        numbers[gone.trust] = nil
        if last === gone { last = nil }
    }

    /// Releases the domains without a transfer, with their connections.
    mutating func removeIdle() {
        for number in idle { forget(number) }
        idle = []
    }

    /// Returns the domain of a transfer that has ended. One idle domain may be released, with its
    /// connections.
    mutating func didEndTransfer(in number: UInt32) {
        guard let member = last?.number == number ? last : members[number], member.transferCount > 0 else {
            return
        }
        member.transferCount -= 1
        guard member.transferCount == 0 else { return }
        guard member.trust.transfer == nil else { return forget(number) }
        idle.append(number)
        if idle.count > Self.maximumIdle { forget(idle.removeFirst()) }
    }
}
