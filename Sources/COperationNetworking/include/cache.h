// The files of a cache. `struct stat` belongs to a different module in every build.
#ifndef COPERATIONNETWORKING_CACHE_H
#define COPERATIONNETWORKING_CACHE_H

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

// A regular file: its owner, whether only the owner may read and write it, by one name, and the time of its last use
// in microseconds since 1970.
struct ccache_file {
    unsigned int owner;
    int is_private;
    unsigned long long inode;
    long long length, used;
};

static inline int ccache_fill_file(const struct stat *status, struct ccache_file *file) {
    file->owner = status->st_uid;
    file->is_private = status->st_nlink == 1 && (status->st_mode & 077) == 0;
    file->inode = status->st_ino;
    file->length = status->st_size;
    // A time that no clock shows is any file's.
    const long long seconds = status->st_mtim.tv_sec, limit = 1ll << 40;
    file->used = (seconds > limit ? limit : seconds < 0 ? 0 : seconds) * 1000000 + status->st_mtim.tv_nsec / 1000;
    return S_ISREG(status->st_mode);
}

// 1: a regular file, 0: something else, -1: see errno.
static inline int ccache_file_of(int descriptor, struct ccache_file *file) {
    struct stat status;
    return fstat(descriptor, &status) == 0 ? ccache_fill_file(&status, file) : -1;
}

// Of the name itself, not of what a link leads to.
static inline int ccache_file_at(int directory, const char *name, struct ccache_file *file) {
    struct stat status;
    return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? ccache_fill_file(&status, file) : -1;
}

// 1: a directory of this user's that no other may write; 2: nor read; 0: something else; -1: see errno.
static inline int ccache_folder_of(int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return -1;
    if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 022) != 0) return 0;
    return (status.st_mode & 077) == 0 ? 2 : 1;
}

// Sets the time of the last use to now.
static inline int ccache_use(int descriptor) {
    struct timespec times[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
    return futimens(descriptor, times);
}

// In cache.c: glibc declares it only under _GNU_SOURCE, which a Clang module cannot define. Has the kernel
// begin to write some bytes to the disk, and does not wait for that.
void ccache_begin_writeback(int descriptor, long long offset, long long length);

#endif
