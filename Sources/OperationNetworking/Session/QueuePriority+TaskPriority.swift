import Foundation

extension Operation.QueuePriority {
    /// - Parameter taskPriority: from 0 to 1.
    init(taskPriority: Float) {
        self =
            switch taskPriority {
            case ..<0.125: .veryLow
            case ..<0.375: .low
            case ..<0.625: .normal
            case ..<0.875: .high
            default: .veryHigh
            }
    }
}
