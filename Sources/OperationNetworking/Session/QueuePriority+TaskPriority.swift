import Foundation

extension Operation.QueuePriority {
    /// - Parameter taskPriority: from 0 to 1. What is no number is normal.
    init(taskPriority: Float) {
        self =
            switch taskPriority {
            case ..<0.125: .veryLow
            case ..<0.375: .low
            case ..<0.625: .normal
            case ..<0.875: .high
            case 0.875...: .veryHigh
            default: .normal
            }
    }
}
