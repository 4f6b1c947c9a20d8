// open(2) is variadic, which Swift cannot call; and `struct stat` belongs to a different module in every build.
#ifndef COPERATIONNETWORKING_FILES_H
#define COPERATIONNETWORKING_FILES_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

static inline int cfiles_open(const char *path, int flags, mode_t mode) {
    return open(path, flags, mode);
}

// What bytes can be written to: a regular file, a device, or a FIFO; nothing else. -1: see errno.
enum cfiles_kind { cfiles_other, cfiles_regular, cfiles_device, cfiles_fifo };

static inline int cfiles_kind_of(mode_t mode) {
    if (S_ISREG(mode)) return cfiles_regular;
    if (S_ISCHR(mode) || S_ISBLK(mode)) return cfiles_device;
    return S_ISFIFO(mode) ? cfiles_fifo : cfiles_other;
}

static inline int cfiles_kind_of_descriptor(int descriptor, int *is_empty) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return -1;
    *is_empty = status.st_size == 0;
    return cfiles_kind_of(status.st_mode);
}

static inline int cfiles_kind_of_path(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? cfiles_kind_of(status.st_mode) : -1;
}

// The length of a regular file in bytes. -1 with errno for anything else, which has no length to rely on.
static inline long long cfiles_length(int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return -1;
    if (S_ISREG(status.st_mode)) return status.st_size;
    errno = S_ISDIR(status.st_mode) ? EISDIR : ESPIPE;
    return -1;
}

// Holds SIGPIPE back on this thread: writing to a pipe without a reader sends it, and it would end the process.
// Whether one was waiting already, which is then not ours to take away.
static inline int cfiles_hold_pipe_signal(sigset_t *before) {
    sigset_t pipe, waiting;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&waiting);
    pthread_sigmask(SIG_BLOCK, &pipe, before);
    return sigismember(&waiting, SIGPIPE);
}

static inline void cfiles_release_pipe_signal(const sigset_t *before, int was_waiting) {
    sigset_t pipe;
    struct timespec at_once = {0, 0};
    int code = errno;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    if (!was_waiting) while (sigtimedwait(&pipe, NULL, &at_once) == -1 && errno == EINTR) {}
    pthread_sigmask(SIG_SETMASK, before, NULL);
    errno = code;
}

#endif
