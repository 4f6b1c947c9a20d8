/// The sockets of the connections of a ``MultiHandle``. libcurl does not report the socket of a connection
/// from its pool.
///
/// Has one entry for each open connection, and possibly for closed ones, which are replaced when their socket
/// number is reused.
final class ConnectionSockets {
    @exclusivity(unchecked) private var sockets: [UInt64: Int32] = [:]
    /// The last known connection of each socket.
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
