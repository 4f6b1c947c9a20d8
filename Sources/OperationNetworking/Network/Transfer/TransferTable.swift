/// A hash table with open addressing: values of transfers, by their numbers.
///
/// Each transfer is looked up a dozen times, and a multiplication is a sufficient hash of consecutive
/// numbers: a `Dictionary` takes three times as long per lookup. Removal leaves no tombstone: the entries
/// behind it move up.
struct TransferTable<Value> {
    private struct Slot {
        /// 0 if the slot is empty. Transfers are counted from 1.
        var number: UInt64 = 0
        var value: Value?
    }

    /// The slots: a power of two, of which at most half are in use; or none.
    private var slots: [Slot] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The value of a transfer. Setting `nil` removes it.
    subscript(id: TransferID) -> Value? {
        get {
            guard let index = index(of: id.tag) else { return nil }
            return slots[index].value
        }
        // Not a `_modify` coroutine, whose frame is allocated if it is not inlined.
        set {
            guard let newValue else {
                _ = remove(id)
                return
            }
            if let index = index(of: id.tag) {
                slots[index].value = newValue
            } else {
                insert(newValue, id.tag)
            }
        }
    }

    /// Removes and returns a value.
    mutating func remove(_ id: TransferID) -> Value? {
        guard let index = index(of: id.tag) else { return nil }
        defer { remove(at: index) }
        return slots[index].value.take()
    }

    func contains(where isFound: (Value) -> Bool) -> Bool {
        slots.contains { $0.value.map(isFound) ?? false }
    }

    func count(where isCounted: (Value) -> Bool) -> Int {
        slots.count { $0.value.map(isCounted) ?? false }
    }

    /// Changes each value.
    mutating func changeAll(_ change: (inout Value) -> Void) {
        for index in slots.indices {
            guard var value = slots[index].value.take() else { continue }
            change(&value)
            slots[index].value = value
        }
    }

    private func index(of number: UInt64) -> Int? {
        guard count > 0, number != 0 else { return nil }
        var index = home(of: number)
        while slots[index].number != 0 {
            if slots[index].number == number { return index }
            index = next(index)
        }
        return nil
    }

    /// Returns the index at which the search for a number begins: the upper bits of its product with the
    /// golden ratio, so that numbers that differ by a power of two do not collide.
    private func home(of number: UInt64) -> Int {
        let product = number &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: product >> UInt64(64 - slots.count.trailingZeroBitCount))
    }

    private func next(_ index: Int) -> Int { (index + 1) & (slots.count - 1) }

    private mutating func insert(_ value: consuming Value, _ number: UInt64) {
        precondition(number != 0, "Transfers are counted from 1")
        if 2 * (count + 1) > slots.count { grow() }
        let index = free(for: number)
        slots[index].number = number
        slots[index].value = value
        count += 1
    }

    private func free(for number: UInt64) -> Int {
        var index = home(of: number)
        while slots[index].number != 0 { index = next(index) }
        return index
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: Slot(), count: max(16, 2 * old.count))
        for slot in old where slot.number != 0 { slots[free(for: slot.number)] = slot }
    }

    /// Empties a slot, and moves up the entries that would otherwise no longer be found.
    private mutating func remove(at removed: Int) {
        count -= 1
        // Releases the memory after a burst.
        if count == 0, slots.count > Self.keptSlots {
            slots = []
            return
        }
        var gap = removed
        slots[gap] = Slot()
        var index = next(gap)
        while slots[index].number != 0 {
            let distance = index &- home(of: slots[index].number)
            if distance & (slots.count - 1) >= (index &- gap) & (slots.count - 1) {
                slots.swapAt(gap, index)
                gap = index
            }
            index = next(index)
        }
    }

    private static var keptSlots: Int { 4096 }
}
