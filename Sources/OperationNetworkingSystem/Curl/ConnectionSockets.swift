/// The sockets of the connections of a ``MultiHandle``. libcurl does not tell that of a connection which it
/// takes from its pool.
///
/// There is one entry for each connection that is open, and perhaps for some that were closed: those go when
/// their number is another connection's.
final class ConnectionSockets {
    private var sockets: [UInt64: Int32] = [:]
    /// The connection that each socket was last seen to be of.
    private var names: [UInt64?] = []

    subscript(connection: ConnectionID) -> Int32? { sockets[connection.number] }

    func note(_ socket: Int32, of connection: ConnectionID) {
        let index = Int(socket)
        if names.count <= index {
            names.append(contentsOf: repeatElement(nil, count: index + 1 - names.count))
        }
        if let old = names[index], sockets[old] == socket { sockets[old] = nil }
        names[index] = connection.number
        sockets[connection.number] = socket
    }
}
