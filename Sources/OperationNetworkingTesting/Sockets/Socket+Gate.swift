extension Socket {
    /// Arrives at the gate and waits until it is open; `false` when the client has closed its side or the
    /// connection has failed before.
    func waitForOpening(of gate: Gate) throws(SocketError) -> Bool {
        let alarm = try WakeUpCall()
        let opening = gate.whenOpened { alarm.call() }
        defer { gate.forget(opening) }
        gate.arrive()
        return waitForHangUp(or: alarm) == .call
    }
}
