#define _GNU_SOURCE
#include "files.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x00004000U
#endif

int cfiles_mount(int descriptor, struct cfiles_mount *mount) {
    struct statx status;
    memset(&status, 0, sizeof(status));
    // A kernel that does not support the second ignores it.
    if (statx(descriptor, "", AT_EMPTY_PATH, STATX_MNT_ID | STATX_MNT_ID_UNIQUE, &status) != 0) return -1;
    mount->number = status.stx_mnt_id;
    mount->is_unique = (status.stx_mask & STATX_MNT_ID_UNIQUE) != 0;
    return mount->is_unique || (status.stx_mask & STATX_MNT_ID) != 0 ? 0 : -1;
}

int cfiles_birth(int descriptor, long long *seconds, long long *nanoseconds) {
    struct statx status;
    memset(&status, 0, sizeof(status));
    if (statx(descriptor, "", AT_EMPTY_PATH, STATX_BTIME, &status) != 0) return -1;
    *seconds = status.stx_btime.tv_sec;
    *nanoseconds = status.stx_btime.tv_nsec;
    return (status.stx_mask & STATX_BTIME) != 0;
}

int cfiles_rename_exclusively(int directory, const char *old, const char *new_name) {
    return renameat2(directory, old, directory, new_name, RENAME_NOREPLACE);
}

int cfiles_open_for_names(const char *path) {
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int cfiles_open_to_identify(int directory, const char *name) {
    return openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

int cfiles_link(int file, int directory, const char *new_name) {
    char path[40];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    return linkat(AT_FDCWD, path, directory, new_name, AT_SYMLINK_FOLLOW);
}

// umask(2) returns the mask only by changing it, for every thread. -1 without /proc, or before Linux 4.7.
static int current_umask(void) {
    char text[512];
    const char *line;
    ssize_t length;
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    length = read(file, text, sizeof(text) - 1);
    close(file);
    if (length <= 0) return -1;
    text[length] = 0;
    line = strstr(text, "\nUmask:");
    return line == NULL ? -1 : (int)strtol(line + 7, NULL, 8);
}

int cfiles_open_folder(const char *path) {
    int file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // Names in it can be used all the same; only its own list of them cannot be read.
    if (file < 0 && errno == EACCES) file = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return file;
}

int cfiles_synchronize_folder(int directory) {
    int code, file, reason;
    // EBADF: it was opened with O_PATH, which fsync(2) does not take.
    if (fsync(directory) == 0) return 0;
    if (errno != EBADF) return -1;
    file = openat(directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (file < 0) {
        sync();
        return 0;
    }
    code = syncfs(file);
    reason = errno;
    close(file);
    errno = reason;
    return code;
}

int cfiles_may_replace(int directory, const char *name) {
    struct stat folder, file;
    int descriptor;
    if (fstat(directory, &folder) != 0 || (folder.st_mode & S_ISVTX) == 0) return 1;
    if (fstatat(directory, name, &file, AT_SYMLINK_NOFOLLOW) != 0) return 1;
    if (folder.st_uid == geteuid() || file.st_uid == geteuid()) return 1;
    // It takes the same capability over the file.
    descriptor = openat(directory, name, O_RDONLY | O_NOATIME | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return errno != EPERM && errno != EACCES;
    close(descriptor);
    return 1;
}

static int has_default_list(int directory) {
    char path[40];
    if (fgetxattr(directory, "system.posix_acl_default", NULL, 0) > 0) return 1;
    if (errno != EBADF) return 0;
    // As in cfiles_synchronize_folder.
    snprintf(path, sizeof(path), "/proc/self/fd/%d", directory);
    return getxattr(path, "system.posix_acl_default", NULL, 0) > 0;
}

int cfiles_mode_of_new_file(int directory) {
    struct stat status;
    int has_default = has_default_list(directory);
    int mask = has_default ? -1 : current_umask();
    int file, code;
    if (mask >= 0) return 0666 & ~mask;
    file = openat(directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (file < 0) return -1;
    code = fstat(file, &status);
    close(file);
    return code == 0 ? (int)(status.st_mode & 0666) : -1;
}

long cfiles_access_list(int directory, const char *name, void *bytes, size_t capacity) {
    long length;
    int code, file = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return -1;
    length = fgetxattr(file, "system.posix_acl_access", bytes, capacity);
    code = errno;
    close(file);
    errno = code;
    return length < 0 && (code == ENODATA || code == EOPNOTSUPP) ? 0 : length;
}

int cfiles_allocate(int descriptor, long long offset, long long length) {
    return fallocate(descriptor, FALLOC_FL_KEEP_SIZE, offset, length);
}
