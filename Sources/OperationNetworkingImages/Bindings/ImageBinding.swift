public import Dispatch
public import Foundation
public import FoundationNetworking
internal import OperationNetworkingImagesSystem

/// Shows images in an object of yours, one after the other, as AFNetworking's category of the image view did.
///
/// ```swift
/// let binding = ImageBinding(to: view) { view, image in view.image = image }
/// binding.setImage(from: url, placeholder: waiting)
/// ```
///
/// A new image cancels the one before it, whose result is never shown. It does not keep the object: when that
/// is released, nothing is shown and no closure is called.
public final class ImageBinding<Target: AnyObject & Sendable>: Sendable {
    private struct State {
        /// Of the last image that was asked for; earlier ones are over.
        var number = 0
        var isLoading = false
        var receipt: ImageDownloadReceipt?
    }

    private struct Weak: Sendable {
        weak let target: Target?
    }

    private let target: Weak
    private let downloader: ImageDownloader
    private let queue: DispatchQueue
    private let show: @Sendable (Target, DecodedImage?) -> Void
    private let state = Guarded(State())

    /// Binds an object.
    ///
    /// - Parameters:
    ///   - target: not retained.
    ///   - downloader: fetches the images; the shared one unless given.
    ///   - completionQueue: a serial queue for all closures; `nil`: the main queue.
    ///   - show: shows an image; `nil`: none.
    public init(
        to target: Target,
        downloader: ImageDownloader = .shared,
        completionQueue: DispatchQueue? = nil,
        show: @escaping @Sendable (Target, DecodedImage?) -> Void
    ) {
        self.target = Weak(target: target)
        self.downloader = downloader
        queue = completionQueue ?? .main
        self.show = show
    }

    deinit {
        if let receipt = state.withLock({ $0.receipt }) { downloader.cancel(receipt) }
    }

    /// Shows the image behind a URL, asked for with `Accept: image/*`.
    ///
    /// - Parameters:
    ///   - url: of the image.
    ///   - placeholder: shown until it is there; `nil`: what is shown stays.
    public func setImage(from url: URL, placeholder: DecodedImage? = nil) {
        var request = URLRequest(url: url)
        request.setValue("image/*", forHTTPHeaderField: "Accept")
        setImage(with: request, placeholder: placeholder)
    }

    /// Shows the image of a request.
    ///
    /// - Parameters:
    ///   - request: a GET mostly.
    ///   - placeholder: shown until it is there; `nil`: what is shown stays.
    ///   - success: called instead of showing the image, with the response, which is `nil` for one of the
    ///     cache.
    ///   - failure: called with the error.
    public func setImage(
        with request: URLRequest,
        placeholder: DecodedImage? = nil,
        success: ImageDownloader.SuccessHandler? = nil,
        failure: ImageDownloader.FailureHandler? = nil
    ) {
        let number = begin(isLoading: true)
        if let placeholder { perform(number, isLast: false) { $1($0, placeholder) } }
        let receipt = downloader.downloadImage(
            for: request,
            completionQueue: queue,
            success: { [weak self] request, response, image in
                self?.end(number) { target, show in
                    if let success { success(request, response, image) } else { show(target, image) }
                }
            },
            failure: { [weak self] request, response, error in
                self?.end(number) { _, _ in failure?(request, response, error) }
            }
        )
        guard let receipt else { return }
        let isOver = state.withLock { state in
            guard state.number == number, state.isLoading else { return true }
            state.receipt = receipt
            return false
        }
        if isOver { downloader.cancel(receipt) }
    }

    /// Cancels what is being fetched: no closure is called for it, and what is shown stays.
    public func cancel() {
        _ = begin(isLoading: false)
    }

    /// Whether an image is on its way.
    public var isLoading: Bool { state.withLock { $0.isLoading } }

    // MARK: - Private

    /// - Returns: the number of the next image; the one before it is cancelled.
    private func begin(isLoading: Bool) -> Int {
        let (number, receipt) = state.withLock { state in
            defer { state.receipt = nil }
            state.number += 1
            state.isLoading = isLoading
            return (state.number, state.receipt)
        }
        if let receipt { downloader.cancel(receipt) }
        return number
    }

    private func perform(
        _ number: Int,
        isLast: Bool,
        _ body: @escaping @Sendable (Target, @Sendable (Target, DecodedImage?) -> Void) -> Void
    ) {
        queue.async { [weak self] in self?.tell(number, isLast: isLast, body) }
    }

    private func end(
        _ number: Int,
        _ body: (Target, @Sendable (Target, DecodedImage?) -> Void) -> Void
    ) {
        tell(number, isLast: true, body)
    }

    /// On the queue: unless another image was asked for meanwhile.
    private func tell(
        _ number: Int,
        isLast: Bool,
        _ body: (Target, @Sendable (Target, DecodedImage?) -> Void) -> Void
    ) {
        let isCurrent = state.withLock { state in
            guard state.number == number else { return false }
            if isLast {
                state.isLoading = false
                state.receipt = nil
            }
            return true
        }
        guard isCurrent, let target = target.target else { return }
        body(target, show)
    }
}
