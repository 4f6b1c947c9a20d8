internal import OperationNetworkingSystem

/// The domains that have transfers, and those last used, whose connections may be wanted again. Used on the
/// network thread.
struct TransferDomains {
    /// The number of domains without a transfer that are kept. Policies, identities and proxies may come and
    /// go by the thousand in one process, and each domain keeps idle connections.
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
    /// Without a transfer, the one that has been so for longest first.
    private var idle: [UInt32] = []
    private var lastNumber: UInt32 = 0
    /// The one that was last taken: the next transfer mostly wants the same.
    private var last: Member?

    /// All of them.
    var all: some Sequence<TransferDomain> { members.values.lazy.map(\.domain) }

    /// The number of domains.
    var count: Int { members.count }

    /// The domain that a number was given to; `nil` if it is gone.
    subscript(number: UInt32) -> TransferDomain? { members[number]?.domain }

    /// The domain for one transfer more; ``didEndTransfer(in:)`` gives it back.
    ///
    /// - Parameters:
    ///   - trust: what must not be shared.
    ///   - make: makes a domain that has a number; called if there is none.
    /// - Returns: the domain and its number.
    /// - Throws: what `make` throws.
    mutating func takeForTransfer(
        _ trust: TrustDomain,
        make: (_ number: UInt32) throws(CurlError) -> TransferDomain
    ) throws(CurlError) -> (number: UInt32, domain: TransferDomain) {
        if let member = member(trust) {
            if member.transferCount == 0 { idle.removeAll { $0 == member.number } }
            member.transferCount += 1
            return (member.number, member.domain)
        }
        // Numbers of domains that still exist are passed over after four billion.
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

    /// Lets go of those without a transfer, with their connections.
    mutating func removeIdle() {
        for number in idle { forget(number) }
        idle = []
    }

    /// A transfer that took the domain has ended. One domain may be let go of, with its connections.
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
