extension OperationArchive {
    /// An operation of the kind that was archived: a ``DownloadOperation``, else an ``HTTPRequestOperation``.
    /// One of a class of your own is made by its `init(archive:)`.
    public func makeOperation() -> HTTPRequestOperation {
        download == nil ? HTTPRequestOperation(archive: self) : DownloadOperation(archive: self)
    }
}

extension DownloadArchive {
    init(_ settings: DownloadOperation.Settings, _ progress: DownloadProgress) {
        destination = settings.destination
        replacesFile = settings.replacesFile
        isStrict = settings.isStrict
        onlyIfChanged = settings.downloadsOnlyIfChanged
        // Once it has begun, the bytes are its own.
        startsOver = settings.startsOver && progress.partialFile == nil
        expectedDigests = settings.expectedDigests
        wantedDigests = settings.wantedAlgorithms
        if case .compare(let overlap) = settings.unprovenBytes { self.overlap = overlap }
        isConditional = progress.isConditional
        file = progress.download.map(File.init)
    }
}

extension DownloadOperation.Settings {
    /// Puts back what was kept.
    mutating func restore(_ archive: DownloadArchive) {
        destination = archive.destination
        replacesFile = archive.replacesFile
        isStrict = archive.isStrict
        downloadsOnlyIfChanged = archive.onlyIfChanged
        startsOver = archive.startsOver
        expectedDigests = archive.expectedDigests
        wantedAlgorithms = archive.wantedDigests
        unprovenBytes = archive.overlap.map { .compare(overlap: $0) } ?? .discard
    }
}

extension DownloadArchive.File {
    init(_ file: DownloadedFile) {
        url = file.file
        length = file.length
        proof = Proof(file.proof)
        digests = file.digests
        bytesRecovered = file.bytesRecovered
        restarts = file.restarts
    }
}

extension DownloadArchive.File.Proof {
    init(_ proof: DownloadedFile.Proof) {
        switch proof {
        case .digest(let digest): self.init(digest: digest)
        case .range(let range): self.init(range: range)
        case .length: self.init(isLength: true)
        case .overlap: self.init(isOverlap: true)
        case .unverifiable, .existing: self.init()  // no operation ends with .existing
        }
    }

    var proof: DownloadedFile.Proof {
        if let digest { return .digest(digest) }
        if let range { return .range(range) }
        if isLength == true { return .length }
        return isOverlap == true ? .overlap : .unverifiable
    }
}

extension DownloadedFile {
    init(_ archive: DownloadArchive.File) {
        self.init(
            file: archive.url,
            length: archive.length,
            proof: archive.proof.proof,
            digests: archive.digests,
            bytesRecovered: archive.bytesRecovered,
            restarts: archive.restarts
        )
    }
}
