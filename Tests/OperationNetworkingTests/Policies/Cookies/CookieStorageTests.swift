import Dispatch
import Foundation
import FoundationNetworking
import Glibc
import OperationNetworking
import OperationNetworkingTesting
import Testing

@testable import OperationNetworkingTestSupport

/// Foundation's own storage: it writes a file into the home directory, so each test is a process with another one.
@Suite(.timeLimit(.minutes(1)))
struct CookieStorageTests {
    /// As `CookieJar` documents it.
    private static let maximumPerDomain = 180

    private let home: TemporaryDirectory

    init() throws {
        home = try TemporaryDirectory()
    }

    /// In the exit test: the jar of the process, with its file below `home`.
    private static func scene(_ home: String) -> CookieScene {
        alarm(50)
        setenv("XDG_DATA_HOME", home, 1)
        return CookieScene(.shared)
    }

    @Test func theSharedJarIsTheSharedStorage() async throws {
        await #expect(processExitsWith: .success) { [home = home.url.path as String] in
            let scene = Self.scene(home)
            let server = try ScriptedServer([
                .respond(["Set-Cookie": "a=1; Path=/p", "Set-Cookie": "d=1; Domain=a.localhost; HttpOnly"])
            ])
            // The default of every operation.
            let operation = HTTPRequestOperation(
                request: URLRequest(url: try server.url(host: "b.a.localhost", "/p"))
            )
            operation.completionQueue = DispatchQueue(label: "callbacks")
            operation.start()
            _ = try await operation.value
            let stored = (HTTPCookieStorage.shared.cookies ?? []).sorted { $0.name < $1.name }
            guard stored.map(\.name) == ["a", "d"], stored.map(\.path) == ["/p", "/"] else { exit(2) }
            guard stored.map(\.domain) == ["b.a.localhost", ".a.localhost"], stored[1].isHTTPOnly else {
                exit(3)
            }
            // A cookie that the application puts into the storage is sent by the rules, which the storage
            // does not know.
            for (name, path) in [("e", "/"), ("f", "/q")] {
                guard
                    let cookie = HTTPCookie(properties: [
                        .name: name, .value: "1", .domain: "b.a.localhost", .path: path,
                    ])
                else { exit(4) }
                HTTPCookieStorage.shared.setCookie(cookie)
            }
            await scene.get(try server.url(host: "b.a.localhost", "/p"))
            guard server.cookies.last == ["a=1", "d=1", "e=1"] else { exit(5) }
            scene.jar.removeAll()
            guard HTTPCookieStorage.shared.cookies?.isEmpty == true else { exit(6) }
        }
    }

    @Test func aServerCanTakeItsCookieOutOfTheStorage() async throws {
        await #expect(processExitsWith: .success) { [home = home.url.path as String] in
            let scene = Self.scene(home)
            let server = try ScriptedServer([
                .respond(["Set-Cookie": "a=1; Max-Age=100", "Set-Cookie": "b=1; Domain=a.localhost"]),
                .respond(["Set-Cookie": "a=; Max-Age=0", "Set-Cookie": "b=; Domain=a.localhost; Max-Age=0"]),
            ])
            for _ in 0..<2 { await scene.get(try server.url(host: "a.localhost")) }
            guard server.cookies == [[], ["a=1", "b=1"]] else { exit(2) }
            guard HTTPCookieStorage.shared.cookies?.isEmpty == true else { exit(3) }
        }
    }

    @Test func aStorageThatAcceptsNothingGetsNothing() async throws {
        await #expect(processExitsWith: .success) { [home = home.url.path as String] in
            let scene = Self.scene(home)
            HTTPCookieStorage.shared.cookieAcceptPolicy = .never
            let server = try ScriptedServer([.respond(["Set-Cookie": "a=1"])])
            for _ in 0..<2 { await scene.get(server.url) }
            guard server.cookies == [[], []] else { exit(2) }
            guard HTTPCookieStorage.shared.cookies?.isEmpty == true else { exit(3) }
        }
    }

    /// Foundation on Linux reads a `Secure` cookie back as one that is not.
    @Test func aSecureCookieStaysSecureWhenReadBack() async throws {
        await #expect(processExitsWith: .success) { [home = home.url.path as String] in
            let scene = Self.scene(home)
            // libcurl counts this host as secure.
            let server = try ScriptedServer([
                .respond(["Set-Cookie": "s=1; Secure; Max-Age=1000", "Set-Cookie": "p=1; Max-Age=1000"])
            ])
            for _ in 0..<2 { await scene.get(try server.url(host: "localhost")) }
            guard server.cookies.last == ["p=1", "s=1"] else { exit(2) }
            let secure = scene.jar.cookies.first { $0.name == "s" }
            guard let secure, secure.isSecure, let date = secure.expiresDate,
                (900...1000).contains(date.timeIntervalSinceNow)
            else { exit(3) }
        }
        await #expect(processExitsWith: .success) { [home = home.url.path as String] in
            let scene = Self.scene(home)
            guard scene.jar.cookies.map(\.name) == ["p"] else { exit(2) }
        }
    }

    @Test func aServerCannotFillTheStorage() async throws {
        await #expect(processExitsWith: .success) { [home = home.url.path as String] in
            let scene = Self.scene(home)
            let server = try ScriptedServer { request in
                let name = String(request.path.dropFirst())
                return .respond(200, FieldLines((0..<50).map { ("Set-Cookie", "\(name)\($0)=1; Path=/") }))
            }
            for round in 0..<5 { await scene.get(server.url(path: "/n\(round)x")) }
            guard HTTPCookieStorage.shared.cookies?.count == Self.maximumPerDomain else { exit(2) }
        }
    }

    @Test func whatIsNotSecureIsEvictedFromTheStorageFirst() async throws {
        await #expect(processExitsWith: .success) { [home = home.url.path as String] in
            let scene = Self.scene(home)
            func set(_ name: String, _ properties: [HTTPCookiePropertyKey: Any] = [:]) {
                let plain: [HTTPCookiePropertyKey: Any] = [
                    .name: name, .value: "1", .domain: "a.localhost", .path: "/",
                ]
                guard let cookie = HTTPCookie(properties: plain.merging(properties) { $1 }) else { exit(2) }
                scene.jar.set(cookie)
            }
            set("sid", [.secure: "TRUE"])
            for number in 0..<Self.maximumPerDomain { set("n\(number)") }
            let names = Set(scene.jar.cookies.map(\.name))
            guard names.count == Self.maximumPerDomain, names.contains("sid"), !names.contains("n0")
            else { exit(3) }
        }
    }

    @Test func whatManyOperationsBringAtOnceIsAllInTheStorage() async throws {
        await #expect(processExitsWith: .success) { [home = home.url.path as String] in
            let scene = Self.scene(home)
            let server = try ScriptedServer { request in
                .respond(200, ["Set-Cookie": "n\(request.path.dropFirst())=1; Path=/"])
            }
            let operations = (0..<50).map { scene.operation(URLRequest(url: server.url(path: "/\($0)"))) }
            for operation in operations { operation.start() }
            for operation in operations { _ = try await operation.value }
            guard scene.pairs == (0..<50).map({ "n\($0)=1" }).sorted() else { exit(2) }
        }
    }
}
