// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// One small program for each use of the library; `make test` runs all of them against a loopback server.
let examples = ["Request", "Batch", "PauseAndResume", "Manager"]

let package = Package(
    name: "Examples",
    dependencies: [.package(name: "OperationNetworking", path: "..")],
    targets: examples.map { name in
        .executableTarget(
            name: name,
            dependencies: [.product(name: "OperationNetworking", package: "OperationNetworking")],
            swiftSettings: settings
        )
    },
    swiftLanguageModes: [.v6]
)
