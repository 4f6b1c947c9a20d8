public import Dispatch
public import Foundation
public import FoundationNetworking
internal import OperationNetworking
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
    private let show: @isolated(any) @Sendable (Target, DecodedImage?) -> Void
    private let state = Guarded(State())

    /// Binds an object.
    ///
    /// - Parameters:
    ///   - target: not retained.
    ///   - downloader: fetches the images; the shared one unless given.
    ///   - completionQueue: a serial queue for all closures; `nil`: the main queue. Those that are written in
    ///     main-actor code are called on the main queue.
    ///   - show: shows an image; `nil`: none.
    public init(
        to target: Target,
        downloader: ImageDownloader = .shared,
        completionQueue: DispatchQueue? = nil,
        @_inheritActorContext show: @escaping @isolated(any) @Sendable (Target, DecodedImage?) -> Void
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
        setImage(for: request, placeholder: placeholder)
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
        for request: URLRequest,
        placeholder: DecodedImage? = nil,
        @_inheritActorContext success: ImageDownloader.SuccessHandler? = nil,
        @_inheritActorContext failure: ImageDownloader.FailureHandler? = nil
    ) {
        let number = begin(isLoading: true)
        if let placeholder {
            perform(ClosureHome(show.isolation), number) { Detour($0.show, $1, placeholder) }
        }
        let receipt = downloader.download(request) { [weak self] response, result in
            self?.end(number, request, response, result, success, failure)
        }
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

    /// On any thread.
    private func end(
        _ number: Int,
        _ request: URLRequest,
        _ response: HTTPURLResponse?,
        _ result: Result<DecodedImage, any Error>,
        _ success: ImageDownloader.SuccessHandler?,
        _ failure: ImageDownloader.FailureHandler?
    ) {
        let isolation =
            switch result {
            case .success: success == nil ? show.isolation : success?.isolation
            case .failure: failure == nil ? show.isolation : failure?.isolation
            }
        perform(ClosureHome(isolation), number, isLast: true) { binding, target in
            switch result {
            case .success(let image):
                success.map { Detour($0, request, response, image) } ?? Detour(binding.show, target, image)
            case .failure(let error):
                failure.map { Detour($0, request, response, error) }
            }
        }
    }

    /// Makes the call of `body` at the home of its closure, unless another image was asked for meanwhile.
    private func perform(
        _ home: ClosureHome,
        _ number: Int,
        isLast: Bool = false,
        _ body: @escaping @Sendable (ImageBinding, Target) -> Detour?
    ) {
        home.perform(on: queue) { [weak self] in
            guard let self else { return }
            let isCurrent = state.withLock { state in
                // A placeholder that comes after the image is not shown.
                guard state.number == number, state.isLoading else { return false }
                if isLast {
                    state.isLoading = false
                    state.receipt = nil
                }
                return true
            }
            guard isCurrent, let target = target.target else { return }
            body(self, target)?.callAtHome()
        }
    }
}
