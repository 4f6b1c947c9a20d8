// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// As in the library's own manifest: warnings are errors only where `make` and CI build.
let isStrict = ProcessInfo.processInfo.environment["OPERATIONNETWORKING_STRICT"] != nil

let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + (isStrict ? [.treatAllWarnings(as: .error)] : [])

let package = Package(
    name: "OperationNetworkingBenchmarks",
    products: [
        // Peers has more clients.
        .library(name: "Measuring", targets: ["Measuring"])
    ],
    dependencies: [
        .package(name: "OperationNetworking", path: "..")
    ],
    targets: [
        // What libcurl can do without us.
        .target(name: "CurlBaseline", linkerSettings: [.linkedLibrary("curl")]),
        // Where requests wait.
        .executableTarget(name: "SlowServer"),
        // The costs of a piece of work.
        .target(name: "Measuring", swiftSettings: settings),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "CurlBaseline", "Measuring",
                .product(name: "OperationNetworking", package: "OperationNetworking"),
            ],
            swiftSettings: settings
        ),
        // One piece of work in a process of its own, beside the same by others.
        .executableTarget(
            name: "Workload",
            dependencies: [
                "CurlBaseline", "Measuring",
                .product(name: "OperationNetworking", package: "OperationNetworking"),
            ],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
