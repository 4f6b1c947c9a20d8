/// What a run has to do with those who watch it.
struct RunOutlets {
    var reporter: Reporter
    /// `nil`: nobody reads events.
    var events: EventWriter?
    /// `nil`: keys mean nothing.
    var keyboard: Keyboard?
    var continuation: Continuation
}
