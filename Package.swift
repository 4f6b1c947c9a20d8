// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// Set by `make` and CI. Not unconditional: it would break every package that depends on this one by path as
/// soon as a newer compiler finds something new to warn about.
let isStrict = ProcessInfo.processInfo.environment["OPERATIONNETWORKING_STRICT"] != nil

/// Whether the command is built, too, with the parser of arguments that only it needs. A package that depends on
/// this one should not have to fetch that, so it is there where this package is the root, which the directory of
/// the shell tells, and where `make` and CI say so. Not by the working directory of this process: SwiftPM keeps
/// what a manifest has said for each environment.
let buildsCommand =
    ProcessInfo.processInfo.environment["PWD"].map { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path }
    == URL(fileURLWithPath: Context.packageDirectory).resolvingSymlinksInPath().path
    || ProcessInfo.processInfo.environment["OPERATIONNETWORKING_COMMAND"] != nil

/// The flags with which dependents build the library for debugging: as a whole module, which takes three quarters
/// of the processor time of an incremental build, which they do not need.
let wholeModule = [
    "-disable-batch-mode", "-whole-module-optimization", "-num-threads", "4",
    "-no-emit-module-separately-wmo",
]

let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
    + (isStrict ? [.treatAllWarnings(as: .error)] : [])
    + (buildsCommand ? [] : [.unsafeFlags(wholeModule, .when(configuration: .debug))])

/// The test targets to build, separated by commas; all by default. Under a sanitizer only some are needed, and
/// building all takes longer than running them.
let chosenTests = (ProcessInfo.processInfo.environment["OPERATIONNETWORKING_TESTS"] ?? "").split(
    separator: ","
)

/// The folders of the behavior tests that are built, in the same way.
let chosenFolders = (ProcessInfo.processInfo.environment["OPERATIONNETWORKING_TEST_FOLDERS"] ?? "").split(
    separator: ","
).map(String.init)

let package = Package(
    name: "OperationNetworking",
    products: [
        .library(name: "OperationNetworking", targets: ["OperationNetworking"]),
        .library(name: "OperationNetworkingImages", targets: ["OperationNetworkingImages"]),
        .library(name: "OperationNetworkingTesting", targets: ["OperationNetworkingTesting"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0")
    ],
    targets: [
        // The C border: one header per concern, nothing but inline wrappers.
        .target(
            name: "COperationNetworking",
            linkerSettings: [
                .linkedLibrary("curl"), .linkedLibrary("ssl"), .linkedLibrary("crypto"), .linkedLibrary("z"),
                .linkedLibrary("brotlidec"), .linkedLibrary("zstd"),
            ]
        ),
        // Thin typed wrappers, so that the library itself has no pointers.
        .target(
            name: "OperationNetworkingSystem",
            dependencies: ["COperationNetworking"],
            swiftSettings: settings
        ),
        .target(
            name: "OperationNetworking",
            dependencies: [
                "OperationNetworkingSystem",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings + [.strictMemorySafety()]
        ),
        // The decoder process. It opens gdk-pixbuf when it runs, so nothing has to be installed to build it.
        .target(name: "COperationNetworkingImages"),
        // Thin typed wrappers for the images.
        .target(
            name: "OperationNetworkingImagesSystem",
            dependencies: ["COperationNetworkingImages"],
            swiftSettings: settings
        ),
        .target(
            name: "OperationNetworkingImages",
            dependencies: ["OperationNetworking", "OperationNetworkingImagesSystem"],
            swiftSettings: settings + [.strictMemorySafety()]
        ),
        // The test kit: a scripted loopback server, for the tests of apps, for ours and the demonstration. It
        // depends on nothing here, so it can test any client.
        .target(name: "OperationNetworkingTesting", swiftSettings: settings),
        .executableTarget(
            name: "OperationNetworkingDemo",
            dependencies: ["OperationNetworking", "OperationNetworkingTesting"],
            path: "Examples/Demo",
            swiftSettings: settings
        ),
        // Kills downloaders and looks at what they leave: for the crash test and the tests of opget.
        .target(
            name: "OperationNetworkingCrashTesting",
            dependencies: ["OperationNetworkingTesting"],
            path: "Tests/CrashTesting",
            swiftSettings: settings
        ),
        // Prints what a reachability manager reports: for tests in network namespaces of their own.
        .executableTarget(
            name: "OperationNetworkingReachabilityProbe",
            dependencies: ["OperationNetworking"],
            path: "Tests/ReachabilityProbe",
            swiftSettings: settings
        ),
        .testTarget(
            name: "OperationNetworkingSystemTests",
            dependencies: ["OperationNetworkingSystem", "OperationNetworkingTesting"],
            swiftSettings: settings
        ),
        // What the two below share. A test target, so that a release build does not compile it.
        .testTarget(
            name: "OperationNetworkingTestSupport",
            dependencies: [
                "OperationNetworking", "OperationNetworkingSystem", "OperationNetworkingTesting",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        // Values: neither servers nor processes, so they run at once.
        .testTarget(
            name: "OperationNetworkingValueTests",
            dependencies: [
                "OperationNetworking", "OperationNetworkingSystem", "OperationNetworkingTesting",
                "OperationNetworkingTestSupport",
            ],
            swiftSettings: settings
        ),
        // Behavior, with servers and processes.
        .testTarget(
            name: "OperationNetworkingTests",
            dependencies: [
                "OperationNetworking", "OperationNetworkingSystem", "OperationNetworkingTesting",
                "OperationNetworkingTestSupport", "OperationNetworkingReachabilityProbe",
                .product(name: "Logging", package: "swift-log"),
            ],
            sources: chosenFolders.isEmpty ? nil : chosenFolders,
            swiftSettings: settings
        ),
        .testTarget(
            name: "OperationNetworkingImagesTests",
            dependencies: [
                "OperationNetworking", "OperationNetworkingImages", "OperationNetworkingImagesSystem",
                "OperationNetworkingTesting",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "OperationNetworkingTestingTests",
            dependencies: ["OperationNetworkingTesting"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "OperationNetworkingCrashTestingTests",
            dependencies: ["OperationNetworkingCrashTesting", "OperationNetworkingTesting"],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)

if buildsCommand {
    package.dependencies.append(
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
    )
    package.products.append(.executable(name: "opget", targets: ["opget"]))
    package.targets += [
        .executableTarget(
            name: "opget",
            dependencies: [
                "OperationNetworking",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "OperationNetworkingCrashTest",
            dependencies: [
                "OperationNetworkingCrashTesting", "OperationNetworkingTesting",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/CrashTest",
            swiftSettings: settings
        ),
        .testTarget(
            name: "opgetTests",
            dependencies: [
                "opget", "OperationNetworking", "OperationNetworkingCrashTesting",
                "OperationNetworkingTesting", "OperationNetworkingTestSupport",
            ],
            swiftSettings: settings
        ),
    ]
}

// The samples of the documents, as programs. They are compiled as in the packages of most apps: isolated to the main
// actor unless they say otherwise.
if buildsCommand && chosenTests.isEmpty {
    let isolated = settings + [.defaultIsolation(MainActor.self)]
    let nonisolated: [SwiftSetting] = isStrict ? [.treatAllWarnings(as: .error)] : []
    let images = ["Images", "Porting"]
    let programs = [
        "Start", "Request", "Batch", "BatchAsObject", "PauseAndResume", "Download", "Downloads", "Manager",
        "Encodable", "Retry", "Session", "Upload", "Trust", "Images", "Reachability", "Activity", "Cache",
        "Archive", "Porting", "Migration", "Pieces",
    ]
    package.targets += programs.map { name in
        .executableTarget(
            name: name,
            dependencies: ["OperationNetworking"]
                + (images.contains(name) ? ["OperationNetworkingImages"] : []),
            path: "Examples/Sources/\(name)",
            swiftSettings: isolated
        )
    }
    // The programs of README and of the migration once more, where nothing is isolated unless it says so.
    package.targets += ["Start", "Porting", "Migration"].map { name in
        .executableTarget(
            name: "\(name)Nonisolated",
            dependencies: ["OperationNetworking"]
                + (images.contains(name) ? ["OperationNetworkingImages"] : []),
            path: "Examples/Nonisolated/\(name)",
            swiftSettings: nonisolated
        )
    }
    // The samples of the articles, of README and of the comments: compiled, and not run.
    let articles: [Target.Dependency] = [
        "OperationNetworking", "OperationNetworkingImages", .product(name: "Logging", package: "swift-log"),
    ]
    package.targets += [
        .target(
            name: "Articles",
            dependencies: articles,
            path: "Examples/Sources/Articles",
            swiftSettings: isolated
        ),
        .target(
            name: "ArticlesNonisolated",
            dependencies: articles,
            path: "Examples/Nonisolated/Articles",
            swiftSettings: nonisolated
        ),
        // The forms of the verbs, in three modes.
        .target(
            name: "Verbs",
            dependencies: ["OperationNetworking"],
            path: "Examples/Verbs/Isolated",
            swiftSettings: isolated
        ),
        .target(
            name: "VerbsNonisolated",
            dependencies: ["OperationNetworking"],
            path: "Examples/Verbs/Nonisolated",
            swiftSettings: nonisolated
        ),
        .target(
            name: "VerbsSwift5",
            dependencies: ["OperationNetworking"],
            path: "Examples/Verbs/Swift5",
            swiftSettings: nonisolated + [.swiftLanguageMode(.v5)]
        ),
        // A part of an app, and its tests by the test kit.
        .target(
            name: "PhotoStore",
            dependencies: ["OperationNetworking"],
            path: "Examples/PhotoStore/Sources",
            swiftSettings: isolated
        ),
        .testTarget(
            name: "PhotoStoreTests",
            dependencies: ["PhotoStore", "OperationNetworking", "OperationNetworkingTesting"],
            path: "Examples/PhotoStore/Tests",
            swiftSettings: isolated
        ),
    ]
}

if !chosenTests.isEmpty {
    package.targets.removeAll { $0.type == .test && !chosenTests.contains($0.name[...]) }
}
