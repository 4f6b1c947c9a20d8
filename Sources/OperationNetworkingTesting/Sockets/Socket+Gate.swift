extension Socket {
    /// Arrives at the gate and waits until it is open. Returns false if the client closes its side or the
    /// connection fails first.
    func waitForOpening(of gate: Gate) throws(SocketError) -> Bool {
        let alarm = try WakeUpCall()
        let opening = gate.whenOpened { alarm.call() }
        defer { gate.forget(opening) }
        gate.arrive()
        return waitForHangUp(or: alarm) == .call
    }
}
