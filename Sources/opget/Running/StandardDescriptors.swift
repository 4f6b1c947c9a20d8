import Glibc

/// Standard input, output and error.
enum StandardDescriptors {
    /// Puts something in the place of those that are closed. Else the next file or socket would get their
    /// numbers, and with them what is meant for the user.
    static func fill() {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
            // The lowest number that is free. Output without a reader is an error; messages without one are
            // not. It is closed by exec(2), as nothing that our caller gave us can be: that tells them apart.
            _ = open("/dev/null", (descriptor == 2 ? O_WRONLY : O_RDONLY) | O_CLOEXEC)
        }
    }
}
