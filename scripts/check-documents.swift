// Checks the documents against the checkout: that their samples are compiled, that the map and the lists of names are
// complete, and that what they name exists. Prints each fault; exits 1 if it found any. Run by `make lint`:
//
//   swift scripts/check-documents.swift
import Foundation

var faults = 0

func report(_ place: String, _ fault: String) {
    print("\(place): \(fault)")
    faults += 1
}

func text(_ path: String) -> String {
    do { return try String(contentsOfFile: path, encoding: .utf8) } catch {
        report(path, "not readable")
        return ""
    }
}

/// The names in a folder, which may be a link; none if there is no folder.
func names(in folder: String) -> [String] {
    let path = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
    return ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
}

func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

/// The text below a heading, up to the next one.
func chapter(_ title: String, of document: String) -> Substring {
    let content = text(document)
    guard let start = content.range(of: "\n## \(title)\n")?.upperBound else {
        report(document, "no chapter \(title)")
        return ""
    }
    return content[start..<(content[start...].range(of: "\n## ")?.lowerBound ?? content.endIndex)]
}

func codes(in cell: Substring) -> [String] { cell.matches(of: #/`([^`]+)`/#).map { String($0.1) } }

/// A check that looks at too little has lost what it looks for.
func require(_ count: Int, atLeast minimum: Int, _ what: String) {
    if count < minimum { report("check-documents", "found only \(count) \(what)") }
}

// MARK: - Samples

/// A document's samples are marked parts of programs in Examples, or of tests that show an app's tests; and each
/// marked part is in a document. What README and the pages of the migration show is compiled with the main actor as
/// the default isolation, and without.
func checkSamples() {
    func lines(_ path: String) -> [String] {
        text(path).components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    func parts(of lines: [String], from start: String, to end: String) -> [String] {
        var parts: [String] = []
        var part: [String]?
        for line in lines {
            if line == start {
                part = []
            } else if line == end, let lines = part {
                parts.append(lines.joined(separator: "\n").trimmingCharacters(in: .newlines))
                part = nil
            } else {
                part?.append(line)
            }
        }
        return parts
    }
    func markedParts(_ path: String) -> [String] {
        parts(of: lines(path), from: "// MARK: Example", to: "// MARK: End of example")
    }
    // A part of a manifest is no part of a program.
    func samples(in path: String) -> [String] {
        parts(of: lines(path), from: "```swift", to: "```").filter { !$0.hasPrefix("dependencies:") }
    }
    func programs(in folder: String) -> [(name: String, parts: [String])] {
        names(in: folder).map { name in
            let files = names(in: "\(folder)/\(name)").filter { $0.hasSuffix(".swift") }
            return (name, files.flatMap { markedParts("\(folder)/\(name)/\($0)") })
        }
    }

    let isolated = programs(in: "Examples/Sources")
    let nonisolated = programs(in: "Examples/Nonisolated")
    let isolatedTests = names(in: "Examples/PhotoStore/Tests").flatMap {
        markedParts("Examples/PhotoStore/Tests/\($0)")
    }
    let nonisolatedTests = ["AppTests", "ArticleTests"].flatMap {
        markedParts("Tests/OperationNetworkingTests/Stubs/\($0).swift")
    }
    let inIsolated = Set(isolated.flatMap(\.parts) + isolatedTests)
    let inNonisolated = Set(nonisolated.flatMap(\.parts) + nonisolatedTests)
    let compiled = inIsolated.union(nonisolatedTests)

    let catalog = "Sources/OperationNetworking/OperationNetworking.docc"
    let articles = names(in: catalog).filter { $0.hasSuffix(".md") }
    require(articles.count, atLeast: 12, "articles")
    let migration =
        ["Migration.md"] + names(in: "Documentation/Migration").map { "Documentation/Migration/\($0)" }
    require(migration.count, atLeast: 6, "pages of the migration")
    let compiledTwice = ["README.md"] + migration
    let extensions = names(in: "\(catalog)/Extensions").map { "\(catalog)/Extensions/\($0)" }
    let documents = compiledTwice + extensions + articles.map { "\(catalog)/\($0)" }
    var shown: Set<String> = []
    for document in documents {
        for sample in samples(in: document) {
            shown.insert(sample)
            if !compiled.contains(sample) { report(document, "no program has this sample:\n\(sample)") }
            guard compiledTwice.contains(document) else { continue }
            if !inIsolated.contains(sample) { report(document, "not in Examples/Sources:\n\(sample)") }
            if !inNonisolated.contains(sample) { report(document, "not in Examples/Nonisolated:\n\(sample)") }
        }
    }
    for module in ["OperationNetworking", "OperationNetworkingImages", "OperationNetworkingTesting"] {
        for case let path as String in FileManager.default.enumerator(atPath: "Sources/\(module)") ?? .init()
        where path.hasSuffix(".swift") {
            let comments = lines("Sources/\(module)/\(path)").filter { $0.hasPrefix("///") }
                .map { $0.dropFirst(3).trimmingCharacters(in: .whitespaces) }
            for sample in parts(of: comments, from: "```swift", to: "```") {
                shown.insert(sample)
                if !compiled.contains(sample) { report(path, "no program has this sample:\n\(sample)") }
            }
        }
    }
    require(shown.count, atLeast: 80, "samples")
    for (name, parts) in isolated + [("AppTests", isolatedTests + nonisolatedTests)] {
        if parts.isEmpty { report(name, "no marked part") }
        for part in parts where !shown.contains(part) { report(name, "shown nowhere:\n\(part)") }
    }

    let page = lines("\(catalog)/OperationNetworking.md")
    for article in articles.map({ $0.dropLast(3) }) where article != "OperationNetworking" {
        if !page.contains("- <doc:\(article)>") { report(catalog, "\(article) is not on the first page") }
    }
    let manifest = text("Package.swift")
    for name in isolated.map(\.name) + nonisolated.map(\.name) where !manifest.contains("\"\(name)\"") {
        report("Package.swift", "does not build the example \(name)")
    }
}

// MARK: - The map

/// The paths in the map of the code exist; its tables have each note and each folder of the library, in the order
/// that check-house-style checks.
func checkMap() {
    let map = "Documentation/Design/README.md"
    // What stands in blocks of code is a drawing.
    let prose = text(map).replacing(#/```[\s\S]*?```/#, with: "")
    let paths = prose.matches(of: #/`([\w+.]+/[\w+.][\w+.\/-]*)`/#).map { String($0.1) }
    require(paths.count, atLeast: 30, "paths in the map")
    for path in paths {
        let places = ["", "Sources/", "Sources/OperationNetworking/"]
        let candidates = places.flatMap { ["\($0)\(path)", "\($0)\(path).swift"] }
        if !candidates.contains(where: exists) { report(map, "\(path) does not exist") }
    }
    func rows(_ title: String) -> [String] {
        chapter(title, of: map).matches(of: #/\n\| ([^|]+?) \|/#).map { String($0.1) }
    }
    let listed = rows("The notes").compactMap { row in
        row.wholeMatch(of: #/\[(.*)\]\((.*)\.md\)/#).map { $0.1 == $0.2 ? "\($0.2).md" : row }
    }
    let notes = names(in: "Documentation/Design").filter { $0.hasSuffix(".md") && $0 != "README.md" }
    for name in Set(listed).symmetricDifference(notes) {
        report(map, "a row without a note, or the reverse: \(name)")
    }

    let folders = rows("Folders of the library, in order").compactMap { row in
        row.wholeMatch(of: #/`(\w+)\/`/#).map { String($0.1) }
    }
    let here = names(in: "Sources/OperationNetworking").filter { !$0.hasSuffix(".docc") }
    for name in Set(folders).symmetricDifference(here) {
        report(map, "a row without a folder, or the reverse: \(name)")
    }
    let order = text("scripts/check-house-style").firstMatch(of: #/split\(([^()]+), order/#)?.1 ?? ""
    let checked = order.matches(of: #/[A-Z][A-Za-z]+/#).map { String($0.0) }
    if folders != checked.filter(folders.contains) {
        report(map, "not the order of scripts/check-house-style")
    }
}

// MARK: - Links

/// A link of a document to a file or a heading leads there, and a document that the text names exists: beside the
/// document, below the root, or, if only its name is given, in any folder of documents.
func checkLinks() {
    func anchors(of document: String) -> Set<String> {
        let headings = text(document).replacing(#/```[\s\S]*?\n\s*```/#, with: "").split(separator: "\n")
            .filter { $0.hasPrefix("#") }
        return Set(
            headings.map { heading in
                heading.drop { $0 == "#" || $0 == " " }.lowercased().replacing(" ", with: "-")
                    .filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
            }
        )
    }
    let folders = [
        "", "Documentation/", "Documentation/Design/", "Documentation/Migration/", "Tests/",
        "Sources/OperationNetworking/OperationNetworking.docc/",
    ]
    let documents = folders.map { folder in
        (folder, names(in: folder.isEmpty ? "." : folder).filter { $0.hasSuffix(".md") })
    }
    let documentNames = Set(documents.flatMap(\.1))
    var found = 0
    var named = 0
    for (folder, files) in documents {
        for name in files {
            let prose = text(folder + name).replacing(#/```[\s\S]*?\n\s*```/#, with: "")
            for link in prose.matches(of: #/\]\(([^()\s]+)\)/#).map(\.1) where !link.contains("://") {
                found += 1
                let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                let path = parts[0].isEmpty ? folder + name : folder + parts[0]
                guard exists(path) else {
                    report(folder + name, "links to \(link), which does not exist")
                    continue
                }
                if parts.count > 1, !anchors(of: path).contains(String(parts[1])) {
                    report(folder + name, "links to \(link), where no such heading is")
                }
            }
            let words = prose.replacing(#/\]\([^()\s]+\)|\w+://\S+/#, with: "]")
            for other in words.matches(of: #/[\w.+\/-]*\w\.md\b/#).map({ String($0.0) }) {
                named += 1
                let isThere = documentNames.contains(other) || exists(folder + other) || exists(other)
                if !isThere { report(folder + name, "names \(other), which does not exist") }
            }
        }
    }
    require(found, atLeast: 100, "links")
    require(named, atLeast: 5, "names of documents")
}

// MARK: - Names of other libraries

/// Each public symbol of AFNetworking 2.7 (Tests/AFNetworkingSymbols.txt: a class or a constant on a line of its own,
/// a member after its class) has one row in Symbols.md, in whose tables the members of a class follow it. What
/// stands as code in a right column is declared.
func checkMigration() {
    let guide = "Documentation/Migration/Symbols.md"
    let symbols = text("Tests/AFNetworkingSymbols.txt").split(separator: "\n").map(String.init)
        .filter { !$0.hasPrefix("#") }
    require(Set(symbols).count, atLeast: 250, "symbols of AFNetworking")
    let alone = Set(symbols.filter { !$0.contains(" ") })

    var declared: Set<Substring> = [
        // Foundation's, Swift's or an example's.
        "try", "await", "FoundationXML", "XMLParser", "XMLDocument", "NSURLSession", "sockaddr",
        "SCNetworkReachabilityRef", "localizedDescription", "reloadIgnoringLocalCacheData",
        "returnCacheDataDontLoad", "OperationNetworkingImages", "aURLCredential", "session", "User", "pieces",
        "Task", "load", "download", "downloader",
    ]
    for suffix in ["", "Images", "Testing"] {
        for line in text("Documentation/Surface/OperationNetworking\(suffix).txt").split(separator: "\n")
        where !line.contains(" [deprecated") && !line.contains(" [unavailable") {
            declared.formUnion(line.split { !$0.isLetter && !$0.isNumber && $0 != "_" })
        }
    }
    require(declared.count, atLeast: 1_000, "declared names")
    func checkCounterpart(_ row: Substring, _ here: Substring) {
        // Text in quotes is an example.
        for code in codes(in: here).map({ $0.replacing(#/"[^"]*"/#, with: "") }) {
            for name in code.matches(of: #/[A-Za-z_]\w\w+/#).map(\.0) where !declared.contains(name) {
                report(guide, "\(row) names \(code), which nothing declares")
            }
        }
    }

    var owner = ""
    var named: [String: Int] = [:]
    for match in chapter("The symbols of AFNetworking 2.7", of: guide)
        .matches(of: #/\n\| (`[^|]+) \| ([^|]+) \|/#)
    {
        for code in codes(in: match.1) {
            if alone.contains(code) { owner = code }
            named[alone.contains(code) ? code : "\(owner) \(code)", default: 0] += 1
        }
        if !match.2.contains("`") && !match.2.contains("the same") && !match.2.contains(": ") {
            report(guide, "\(match.1) says neither what it is here nor why it is not")
        }
        checkCounterpart(match.1, match.2)
    }
    for symbol in symbols where named[symbol] != 1 {
        report(guide, "\(symbol) has \(named[symbol] ?? 0) rows")
    }
    for symbol in named.keys.filter({ !symbols.contains($0) }) { report(guide, "\(symbol) is no symbol") }

    for (page, origin) in [
        ("Symbols", "AFNetworking 1"), ("Sessions", "AFNetworking 3 and 4"), ("OtherLibraries", "URLSession"),
        ("OtherLibraries", "Alamofire"), ("OtherLibraries", "Nuke"), ("OtherLibraries", "AsyncHTTPClient"),
    ] {
        let rows = chapter("From \(origin)", of: "Documentation/Migration/\(page).md")
            .matches(of: #/\n\| ([^|\n]+) \| ([^|\n]+) \|/#)
        require(rows.count, atLeast: 15, "rows from \(origin)")
        for row in rows { checkCounterpart(row.1, row.2) }
    }
}

/// Tests/AFNetworking.md has a test or a reason for each of AFNetworking's tests, and each test is where it says.
func checkTests() {
    let path = "Tests/AFNetworking.md"
    let list = text(path)
    let rows = list.matches(of: #/\n\| (?:[A-Z]+-\d\d )?`(test\w+)` \| (.+?) \|(?=\n|$)/#)
    require(
        rows.count,
        atLeast: max(150, list.matches(of: #/\n\| .*\btest[A-Z]/#).count),
        "tests of AFNetworking"
    )
    var texts: [Substring: String] = [:]
    for (_, name, place) in rows.map(\.output) {
        guard let file = place.wholeMatch(of: #/`([\w/]+\.swift)`/#)?.1 else {
            if place.split(separator: " ").count <= 3 { report(path, "\(name) has no reason") }
            continue
        }
        let content = texts[file] ?? text("Tests/\(file)")
        texts[file] = content
        if content.ranges(of: name).isEmpty { report(path, "\(name) is not in \(file)") }
    }
}

/// README, the article about shipping and its Dockerfile name the packages that scripts/install-dependencies installs.
func checkPackages() {
    let script = "scripts/install-dependencies"
    guard let list = text(script).firstMatch(of: #/\npackages=\((.+)\)\n/#)?.1 else {
        return report(script, "no list of packages")
    }
    let article = "Sources/OperationNetworking/OperationNetworking.docc/Shipping.md"
    for path in ["README.md", article, "Examples/Shipping/Dockerfile"] {
        if text(path).ranges(of: list).isEmpty { report(path, "does not name \(list)") }
    }
}

checkSamples()
checkMap()
checkLinks()
checkMigration()
checkTests()
checkPackages()
exit(faults == 0 ? 0 : 1)
