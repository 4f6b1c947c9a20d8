/// The settings of a session, for a later process: its ``SessionConfiguration`` and the settings in an
/// ``OperationManagerArchive``, with the same exceptions. Tasks are not kept; a download has its resume data.
public struct SessionManagerArchive: Codable, Sendable {
    var format = ArchiveFormat()
    let configuration: SessionConfiguration
    let settings: OperationManagerArchive
}
