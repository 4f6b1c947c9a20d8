/// The files that a new file may replace.
enum ReplaceableFile: Hashable, Sendable {
    case nothing, emptyFile, anyFile
}
