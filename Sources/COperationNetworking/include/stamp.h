// `struct stat` belongs to a different module in every build.
#ifndef COPERATIONNETWORKING_STAMP_H
#define COPERATIONNETWORKING_STAMP_H

#include <sys/stat.h>

// The stamp of a regular file, which shows whether it has changed since: its length, and the time of the last
// write.
struct cstamp {
    long long length, seconds, nanoseconds;
};

// Of the name itself, not of what a link leads to. 1: a regular file, 0: something else, -1: see errno.
static inline int cstamp_of_path(const char *path, struct cstamp *stamp) {
    struct stat status;
    if (lstat(path, &status) != 0) return -1;
    stamp->length = status.st_size;
    stamp->seconds = status.st_mtim.tv_sec;
    stamp->nanoseconds = status.st_mtim.tv_nsec;
    return S_ISREG(status.st_mode);
}

// The version of the file that a path leads to: its identity, and the time of its last change of any kind.
struct cversion {
    unsigned long long device, inode;
    long long length, seconds, nanoseconds;
};

// Links are followed. 0, or -1: see errno.
static inline int cversion_of_path(const char *path, struct cversion *version) {
    struct stat status;
    if (stat(path, &status) != 0) return -1;
    version->device = status.st_dev;
    version->inode = status.st_ino;
    version->length = status.st_size;
    version->seconds = status.st_ctim.tv_sec;
    version->nanoseconds = status.st_ctim.tv_nsec;
    return 0;
}

#endif
