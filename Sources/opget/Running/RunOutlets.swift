/// The outlets of a run: its reports, its events, and the user's keys.
struct RunOutlets {
    var reporter: Reporter
    /// `nil` if no events are written.
    var events: EventWriter?
    /// `nil` if keys are ignored.
    var keyboard: Keyboard?
    var continuation: Continuation
}
