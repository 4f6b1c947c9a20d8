// swift-tools-version: 6.2
import PackageDescription

/// Feeds what servers send to what reads it. Built and run by `scripts/fuzz`, which has the flags it needs.
let package = Package(
    name: "Fuzzing",
    dependencies: [.package(name: "OperationNetworking", path: "../..")],
    targets: [
        .executableTarget(
            name: "Fuzz",
            dependencies: [.product(name: "OperationNetworking", package: "OperationNetworking")],
            // Without a main function of Swift's: libFuzzer is started by a C function.
            swiftSettings: [.unsafeFlags(["-parse-as-library", "-sanitize=fuzzer,address"])],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]
        )
    ],
    swiftLanguageModes: [.v6]
)
