// swift-tools-version: 6.2
import PackageDescription

// A package of its own: a build of the library does not need it.
let package = Package(
    name: "Conformance",
    dependencies: [.package(name: "OperationNetworking", path: "../..")],
    targets: [
        .executableTarget(
            name: "CacheAdapter",
            dependencies: [.product(name: "OperationNetworking", package: "OperationNetworking")]
        )
    ],
    swiftLanguageModes: [.v6]
)
