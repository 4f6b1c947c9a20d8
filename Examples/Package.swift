// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// As in the library's own manifest: warnings are errors only where `make` and CI build.
let isStrict = ProcessInfo.processInfo.environment["OPERATIONNETWORKING_STRICT"] != nil

/// Isolated to the main actor unless they say otherwise, as the packages of many apps are: a sample that
/// compiles here compiles there.
let settings: [SwiftSetting] =
    [
        .defaultIsolation(MainActor.self),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + (isStrict ? [.treatAllWarnings(as: .error)] : [])

/// One program for each of these, in the folder of its name.
let examples = [
    "Start", "Request", "Batch", "BatchAsObject", "PauseAndResume", "Download", "Downloads", "Manager",
    "Encodable",
    "Retry", "Session", "Upload", "Trust", "Images", "Reachability", "Activity", "Cache", "Archive",
    "Porting", "Migration", "Pieces",
]

/// The products that a program uses beside the library.
let more = [
    "Images": ["OperationNetworkingImages"], "Porting": ["OperationNetworkingImages"],
]

/// Where nothing is isolated unless it says so.
let nonisolatedSettings: [SwiftSetting] = isStrict ? [.treatAllWarnings(as: .error)] : []

let library: Target.Dependency = .product(name: "OperationNetworking", package: "OperationNetworking")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let both: [Target.Dependency] = [
    library, .product(name: "OperationNetworkingImages", package: "OperationNetworking"),
]

let package = Package(
    name: "OperationNetworkingExamples",
    dependencies: [
        .package(name: "OperationNetworking", path: ".."),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    ],
    targets: examples.map { name in
        .executableTarget(
            name: name,
            dependencies: (["OperationNetworking"] + more[name, default: []]).map { product in
                .product(name: product, package: "OperationNetworking")
            },
            swiftSettings: settings
        )
    } + [
        // The code of README and of Migration.md once more, where nothing is isolated unless it says so: links in a
        // folder of their own. README's other samples are in Articles, which is not linked.
        .executableTarget(
            name: "StartNonisolated",
            dependencies: [library],
            path: "Nonisolated/Start",
            swiftSettings: nonisolatedSettings
        ),
        .executableTarget(
            name: "PortingNonisolated",
            dependencies: both,
            path: "Nonisolated/Porting",
            swiftSettings: nonisolatedSettings
        ),
        .executableTarget(
            name: "MigrationNonisolated",
            dependencies: [library],
            path: "Nonisolated/Migration",
            swiftSettings: nonisolatedSettings
        ),
        // The forms of the verbs, in three modes.
        .target(
            name: "Verbs",
            dependencies: [library],
            path: "Verbs/Isolated",
            swiftSettings: settings
        ),
        .target(
            name: "VerbsNonisolated",
            dependencies: [library],
            path: "Verbs/Nonisolated",
            swiftSettings: nonisolatedSettings
        ),
        .target(
            name: "VerbsSwift5",
            dependencies: [library],
            path: "Verbs/Swift5",
            swiftSettings: nonisolatedSettings + [.swiftLanguageMode(.v5)]
        ),
        // A part of an app, and its tests by the test kit.
        .target(
            name: "PhotoStore",
            dependencies: [.product(name: "OperationNetworking", package: "OperationNetworking")],
            path: "PhotoStore/Sources",
            swiftSettings: settings
        ),
        .testTarget(
            name: "PhotoStoreTests",
            dependencies: [
                "PhotoStore", .product(name: "OperationNetworking", package: "OperationNetworking"),
                .product(name: "OperationNetworkingTesting", package: "OperationNetworking"),
            ],
            path: "PhotoStore/Tests",
            swiftSettings: settings
        ),
        // The samples of the articles, of README and of the comments: compiled, and not run.
        .target(name: "Articles", dependencies: both + [logging], swiftSettings: settings),
        .target(
            name: "ArticlesNonisolated",
            dependencies: both + [logging],
            path: "Nonisolated/Articles",
            swiftSettings: nonisolatedSettings
        ),
    ],
    swiftLanguageModes: [.v6]
)
