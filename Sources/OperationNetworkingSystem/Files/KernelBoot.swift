import COperationNetworking
import Glibc

/// The current boot of the machine.
package enum KernelBoot {
    /// Unique to each boot; `nil` if unknown.
    package static let identifier: String? = {
        let descriptor = cfiles_open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
            count = max(read(descriptor, buffer.baseAddress, buffer.count), 0)
        }
        let text = String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
        return text.isEmpty ? nil : text
    }()
}
