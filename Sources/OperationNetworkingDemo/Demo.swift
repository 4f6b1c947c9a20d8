import Foundation
import OperationNetworking
import OperationNetworkingTesting

/// The main job, against a server of its own: a batch with aggregate progress, a pause half-way, a resume that asks
/// for the missing ranges only, a file that changed meanwhile, and the checksums of everything.
///
/// It exits with 0 if every file is what the server has at the end.
@main
enum Demo {
    /// Bytes per second of each transfer: slow enough to be watched.
    private static let rate = 3 << 20

    static func main() async throws {
        let directory = try TemporaryDirectory()
        let site = try Site(fileCount: 12, rate: rate)
        let screen = Screen()
        let began = Date()

        screen.say("Server on \(site.server.url), \(site.files.count) files, \(text(site.byteCount)).")
        let downloads = Downloads(site.files, from: site.server, to: directory.url, screen)

        screen.say("\nA batch on a queue, four at a time:")
        downloads.start()
        try await downloads.waitUntilHalf()

        downloads.pause()
        screen.say("Paused half-way: \(downloads.pausedCount) downloads hold \(text(downloads.heldBytes)).")
        let changed = try await site.changeFile(downloads.pausedIndex())
        screen.say("\(changed) changes on the server.")

        screen.say("\nResumed:")
        downloads.resume()
        try await downloads.waitUntilAll()
        for line in site.resumptions() { screen.say("  \(line)") }

        screen.say("\nSHA-256, by sha256sum:")
        let areRight = try Checksums.check(site.files, in: directory.url, screen)

        let fetched = site.server.bodyBytesSent
        screen.say(
            """

            \(site.files.count) files, \(text(site.byteCount)), in \(seconds(-began.timeIntervalSinceNow)).
            \(text(downloads.keptBytes)) were there when their downloads went on, and were not fetched twice.
            \(text(fetched)) were sent by the server, over \(site.server.connectionsAccepted) connections.
            """
        )
        guard areRight, downloads.failures.isEmpty else {
            for failure in downloads.failures { screen.say("\(failure)") }
            screen.say("Something is wrong.")
            exit(1)
        }
        screen.say("Every file is what the server has.")
    }
}
