/// The work behind one operation, from its request to an end: ``Exchange``, or what several exchanges are put
/// together by.
///
/// Made on any thread, under the operation's lock; everything else happens on the network thread. While a
/// transfer runs it keeps its owner.
protocol Exchanging: AnyObject, Sendable {
    /// Begins, or goes on after ``suspend(_:)``. An end that came meanwhile is told again. `lap` is told to
    /// the owner with each wait.
    func begin(_ room: NetworkRoom, for owner: any ExchangeOwner, in lap: Int)

    /// Stops, or holds what could not go on; what came stays. The owner hears nothing more until
    /// ``begin(_:for:)``.
    func suspend(_ room: NetworkRoom)

    /// Stops for good. The owner hears of the end, of an earlier one if there was one.
    func cancel(_ room: NetworkRoom, for owner: any ExchangeOwner)

    /// Lets go of what is held: the operation that suspended it is gone.
    func drop(_ room: NetworkRoom)

    /// The body so far, if it is in memory, and another exchange can ask for the rest of it.
    func bodySoFar(_ room: NetworkRoom) -> EarlierBody?
}
