import ArgumentParser
import CrashTesting
import Foundation
import OperationNetworkingTesting

@main
struct CrashTest: AsyncParsableCommand {
    mutating func run() async throws {
        let dir = try TemporaryDirectory()
        var o = CrashTestOptions(directory: dir.url, opget: URL(fileURLWithPath: ".build/debug/opget"))
        o.kills = 34
        let tool = try await Tool.opget(o)
        print(RowTable.header)
        for kind in ServerKind.all {
            let r = try await RowRun(kind, tool, kills: 4, o)()
            print(RowTable.line(r))
            for p in r.problems { print("   ", p) }
        }
    }
}
