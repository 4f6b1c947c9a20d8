// open(2) is variadic, which Swift cannot call; and `struct stat` belongs to a different module in every build.
#ifndef COPERATIONNETWORKING_FILES_H
#define COPERATIONNETWORKING_FILES_H

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

static inline int cfiles_open(const char *path, int flags, mode_t mode) {
    return open(path, flags, mode);
}

// Whether writing waits for no other process: a regular file or a device, not a FIFO or a socket. -1: see errno.
static inline int cfiles_is_file_or_device(int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return -1;
    return S_ISREG(status.st_mode) || S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode);
}

#endif
