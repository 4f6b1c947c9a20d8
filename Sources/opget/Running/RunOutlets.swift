/// The outlets of a run: its reports, its events, and the user's keys.
struct RunOutlets {
    var reporter: Reporter
    /// `nil`: no events are written.
    var events: EventWriter?
    /// `nil`: keys mean nothing.
    var keyboard: Keyboard?
    var continuation: Continuation
}
