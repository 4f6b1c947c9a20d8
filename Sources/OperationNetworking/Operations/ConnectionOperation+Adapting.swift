import FoundationNetworking
internal import OperationNetworkingSystem

extension ConnectionOperation {
    func exchangeAdapts(
        _ request: URLRequest,
        number: Int,
        by adapters: [any RequestAdapter],
        decide: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) -> @Sendable () -> Void {
        let context = RequestContext(userInfo: userInfo, number: number)
        let task = Task {
            var request = request
            do {
                for adapter in adapters { request = try await adapter.adapt(request, in: context) }
                decide(.success(request))
            } catch {
                decide(.failure(error))
            }
        }
        return { task.cancel() }
    }
}
