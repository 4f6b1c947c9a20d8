// swift-tools-version: 6.2
import PackageDescription

// Clients that need packages of their own: apart, so that nothing else waits for these.
let package = Package(
    name: "OperationNetworkingPeers",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "OperationNetworkingBenchmarks", path: ".."),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.30.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
    ],
    targets: [
        .executableTarget(
            name: "AsyncPeer",
            dependencies: [
                .product(name: "Measuring", package: "OperationNetworkingBenchmarks"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
