/// The lines of the table of servers and tools, printed as they come.
public enum RowTable {
    private static let titles = ["runs", "kills", "finished", "given up", "wrong", "served/size", "left"]
    private static let widths = [5, 6, 9, 9, 6, 12, 5]

    /// The names of the columns.
    public static var header: String {
        line("server", "tool", titles, "exit codes of the runs that were not killed")
    }

    /// One row.
    public static func line(_ result: RowResult) -> String {
        let finished = "\(result.finished)" + (result.older > 0 ? " (\(result.older))" : "")
        let cells = [
            "\(result.counts.runs)", "\(result.counts.kills)", finished, "\(result.unfinished)",
            "\(result.counts.wrong)",
            result.ratio?.rounded(to: 3) ?? "-", "\(result.leftovers)",
        ]
        let exits = result.exits.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value)x)" }
        return line(result.server.name, result.tool.description, cells, exits.joined(separator: ", "))
    }

    private static func line(_ server: String, _ tool: String, _ cells: [String], _ end: String) -> String {
        let numbers = zip(cells, widths).map { $0.paddedLeft(to: $1) }.joined()
        return server.padded(to: 20) + tool.padded(to: 7) + numbers + "  " + end
    }

    /// The meaning of the columns, and the way of counting.
    public static let legend = """
        runs         how often the command was run, with the same arguments in the same directory
        kills        how many of the runs were ended by SIGKILL
        finished     files that came to their end; (n): n of them a whole version from before the change
        given up     files that 3 runs failed to fetch; 8 where the server cuts its first answers
        wrong        files that claim to be complete and are no version of what the server had, byte for byte. opget's
                     claim is the final name, also after a kill; that of the others is the exit code 0
        served/size  bytes of bodies that the server sent, over the size of the finished files. Sent is what the kernel
                     has put on the wire: of a connection that failed, what was still in the server's socket is not
                     counted, and what the client had not read is
        left         other files beside the finished ones

        """
}
