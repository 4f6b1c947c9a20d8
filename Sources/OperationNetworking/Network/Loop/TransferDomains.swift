internal import OperationNetworkingSystem

/// The domains that have transfers, and those last used, whose connections may be wanted again. Used on the
/// network thread.
struct TransferDomains {
    /// The number of domains without a transfer that are kept. Policies, identities and proxies may come and
    /// go by the thousand in one process, and each domain keeps idle connections.
    static let maximumIdle = 16

    private struct Member {
        let trust: TrustDomain
        let domain: TransferDomain
        var transferCount = 0
    }

    private var numbers: [TrustDomain: UInt32] = [:]
    private var members: [UInt32: Member] = [:]
    /// Without a transfer, the one that has been so for longest first.
    private var idle: [UInt32] = []
    private var lastNumber: UInt32 = 0

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
        if let number = numbers[trust], let member = members[number] {
            if member.transferCount == 0 { idle.removeAll { $0 == number } }
            members[number]?.transferCount += 1
            return (number, member.domain)
        }
        // Numbers of domains that still exist are passed over after four billion.
        repeat { lastNumber &+= 1 } while members[lastNumber] != nil
        let domain = try make(lastNumber)
        members[lastNumber] = Member(trust: trust, domain: domain, transferCount: 1)
        numbers[trust] = lastNumber
        return (lastNumber, domain)
    }

    /// Lets go of those without a transfer, with their connections.
    mutating func removeIdle() {
        for number in idle {
            if let gone = members.removeValue(forKey: number) { numbers[gone.trust] = nil }
        }
        idle = []
    }

    /// A transfer that took the domain has ended. One domain may be let go of, with its connections.
    mutating func didEndTransfer(in number: UInt32) {
        guard let count = members[number]?.transferCount, count > 0 else { return }
        members[number]?.transferCount = count - 1
        guard count == 1 else { return }
        guard members[number]?.trust.transfer == nil else {
            if let gone = members.removeValue(forKey: number) { numbers[gone.trust] = nil }
            return
        }
        idle.append(number)
        guard idle.count > Self.maximumIdle, let gone = members.removeValue(forKey: idle.removeFirst()) else {
            return
        }
        numbers[gone.trust] = nil
    }
}
