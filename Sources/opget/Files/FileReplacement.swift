/// The files that a new file may replace.
enum FileReplacement: Hashable, Sendable {
    case nothing, emptyFile, anyFile
}
