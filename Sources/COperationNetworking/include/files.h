// open(2) is variadic, which Swift cannot call; and `struct stat` belongs to a different module in every
// build.
#ifndef COPERATIONNETWORKING_FILES_H
#define COPERATIONNETWORKING_FILES_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static inline int cfiles_open(const char *path, int flags, mode_t mode) {
    return open(path, flags, mode);
}

// What bytes can be written to: a regular file, a device, or a FIFO; nothing else. -1: see errno.
// A character device hands on what it is given, as a terminal does; /dev/null and its kin (null(4),
// full(4)) keep nothing, and count as `cfiles_device`.
enum cfiles_kind { cfiles_other, cfiles_regular, cfiles_device, cfiles_character_device, cfiles_fifo };

static inline int cfiles_kind_of(const struct stat *status) {
    const mode_t mode = status->st_mode;
    const dev_t number = status->st_rdev;
    if (S_ISREG(mode)) return cfiles_regular;
    if (S_ISBLK(mode)) return cfiles_device;
    if (S_ISCHR(mode)) {
        const int keeps_nothing = number == makedev(1, 3) || number == makedev(1, 5) || number == makedev(1, 7);
        return keeps_nothing ? cfiles_device : cfiles_character_device;
    }
    return S_ISFIFO(mode) ? cfiles_fifo : cfiles_other;
}

static inline int cfiles_kind_of_path(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? cfiles_kind_of(&status) : -1;
}

// The length of a regular file in bytes. -1 with errno for anything else, which has no length to rely on.
static inline long long cfiles_length(int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return -1;
    if (S_ISREG(status.st_mode)) return status.st_size;
    errno = S_ISDIR(status.st_mode) ? EISDIR : ESPIPE;
    return -1;
}

// The signals that a write sends beside its error, each of which ends the process by default: SIGPIPE for a
// pipe without a reader, SIGXFSZ for a file beyond the limit of the process (setrlimit(2), RLIMIT_FSIZE).
// Both are sent to the thread that writes.
enum { cfiles_write_signal_count = 2 };
static const int cfiles_write_signals[cfiles_write_signal_count] = {SIGPIPE, SIGXFSZ};

// Holds these signals back on this thread. Which of them were waiting already, a bit for each: they are not
// ours to take away.
static inline int cfiles_hold_write_signals(sigset_t *before) {
    sigset_t held, waiting;
    int were_waiting = 0;
    sigemptyset(&held);
    sigpending(&waiting);
    for (int i = 0; i < cfiles_write_signal_count; i++) {
        sigaddset(&held, cfiles_write_signals[i]);
        if (sigismember(&waiting, cfiles_write_signals[i])) were_waiting |= 1 << i;
    }
    pthread_sigmask(SIG_BLOCK, &held, before);
    return were_waiting;
}

// Takes away what came meanwhile, and lets the signals through again as before. `errno` stays.
static inline void cfiles_release_write_signals(const sigset_t *before, int were_waiting) {
    struct timespec at_once = {0, 0};
    int code = errno;
    sigset_t waiting;
    sigpending(&waiting);
    for (int i = 0; i < cfiles_write_signal_count; i++) {
        sigset_t one;
        if (were_waiting & 1 << i || !sigismember(&waiting, cfiles_write_signals[i])) continue;
        sigemptyset(&one);
        sigaddset(&one, cfiles_write_signals[i]);
        while (sigtimedwait(&one, NULL, &at_once) == -1 && errno == EINTR) {}
    }
    pthread_sigmask(SIG_SETMASK, before, NULL);
    errno = code;
}

// openat(2) is variadic as well.
static inline int cfiles_open_at(int directory, const char *name, int flags, mode_t mode) {
    return openat(directory, name, flags, mode);
}

// What a name stands for. `allocated` is how many bytes the disk holds for it.
enum cfiles_entry_kind { cfiles_entry_file, cfiles_entry_directory, cfiles_entry_link, cfiles_entry_other };

struct cfiles_entry {
    enum cfiles_entry_kind kind;
    unsigned long long device, inode, links;
    long long size, allocated;
    // `mode` is the permissions alone.
    unsigned int owner, group, mode;
};

static inline void cfiles_fill_entry(const struct stat *status, struct cfiles_entry *entry) {
    mode_t mode = status->st_mode;
    entry->kind = S_ISREG(mode)   ? cfiles_entry_file
                  : S_ISDIR(mode) ? cfiles_entry_directory
                  : S_ISLNK(mode) ? cfiles_entry_link
                                  : cfiles_entry_other;
    entry->device = status->st_dev;
    entry->inode = status->st_ino;
    entry->links = status->st_nlink;
    entry->size = status->st_size;
    entry->allocated = (long long)status->st_blocks * 512;
    entry->owner = status->st_uid;
    entry->group = status->st_gid;
    entry->mode = mode & 07777;
}

static inline int cfiles_entry_of(int descriptor, struct cfiles_entry *entry) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return -1;
    cfiles_fill_entry(&status, entry);
    return 0;
}

// When the bytes of an open file were changed last, and when anything of it was.
struct cfiles_times {
    long long modified_seconds, modified_nanoseconds, changed_seconds, changed_nanoseconds;
};

static inline int cfiles_times_of(int descriptor, struct cfiles_times *times) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return -1;
    times->modified_seconds = status.st_mtim.tv_sec;
    times->modified_nanoseconds = status.st_mtim.tv_nsec;
    times->changed_seconds = status.st_ctim.tv_sec;
    times->changed_nanoseconds = status.st_ctim.tv_nsec;
    return 0;
}

static inline int cfiles_kind_of_descriptor(int descriptor, struct cfiles_entry *entry) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return -1;
    cfiles_fill_entry(&status, entry);
    return cfiles_kind_of(&status);
}

// Of what a link leads to.
static inline int cfiles_entry_of_path(const char *path, struct cfiles_entry *entry) {
    struct stat status;
    if (stat(path, &status) != 0) return -1;
    cfiles_fill_entry(&status, entry);
    return 0;
}

// Of the name itself, not of what a link leads to.
static inline int cfiles_entry_at(int directory, const char *name, struct cfiles_entry *entry) {
    struct stat status;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return -1;
    cfiles_fill_entry(&status, entry);
    return 0;
}

// In files.c: functions that glibc declares only under _GNU_SOURCE, which a Clang module cannot define.

// The mount that a file was opened through. A unique number (Linux 6.8) is never given again in this run of
// the kernel; any other is given again after umount(2), the lowest first.
struct cfiles_mount {
    unsigned long long number;
    int is_unique;
};

// -1 if the kernel does not report it (before 5.8).
int cfiles_mount(int descriptor, struct cfiles_mount *mount);

// When an open file was created. 1: `seconds` and `nanoseconds` are set; 0: the file system does not record
// it; -1: see errno.
int cfiles_birth(int descriptor, long long *seconds, long long *nanoseconds);

// Renames a file, to a name that does not exist: renameat2(2).
int cfiles_rename_exclusively(int directory, const char *old, const char *new_name);

// Takes a name for an empty file, which only this user may read; EEXIST if anything has it.
static inline int cfiles_reserve(const char *path) {
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    return close(file);
}

// Opens a directory to use names in it, and a file to identify it (O_PATH). Nothing can be read or
// written by them, and the permission to do that is not needed.
int cfiles_open_for_names(const char *path);
int cfiles_open_to_identify(int directory, const char *name);

// Gives an open file one more name, which must not exist, whatever has its old name now: linkat(2).
int cfiles_link(int file, int directory, const char *new_name);

// A descriptor of a directory for the calls that take names in it; one that may not be read will do. -1: see
// errno.
int cfiles_open_folder(const char *path);

// fsync(2) of such a directory. Of one that may not be read it is the whole file system that is synchronized.
// -1: see errno.
int cfiles_synchronize_folder(int directory);

// Whether rename(2) may take the name of a file away as far as the sticky bit of the directory goes; 0: it
// may not. If the system does not report it, rename(2) decides.
int cfiles_may_replace(int directory, const char *name);

// The permissions that open(2) with 0666 gives a new file in a directory: what the process's umask, or the
// directory's default access control list, leaves of them. -1 if the system does not report it.
int cfiles_mode_of_new_file(int directory);

// The access control list of a file with a name, as the system keeps it. 0: it has none; -1: see errno.
long cfiles_access_list(int directory, const char *name, void *bytes, size_t capacity);

static inline int cfiles_set_access_list(int file, const void *bytes, size_t length) {
    return fsetxattr(file, "system.posix_acl_access", bytes, length, 0);
}

// Makes room for bytes that are going to be written; the length stays: fallocate(2).
int cfiles_allocate(int descriptor, long long offset, long long length);

// Sets the time of the last change, in seconds since 1970.
static inline int cfiles_set_modified(int descriptor, long long seconds) {
    struct timespec times[2] = {{0, UTIME_OMIT}, {seconds, 0}};
    return futimens(descriptor, times);
}

static inline long long cfiles_bytes(unsigned long long blocks, unsigned long long size) {
    unsigned long long bytes;
    if (__builtin_mul_overflow(blocks, size, &bytes) || bytes > 0x7fffffffffffffff) return 0x7fffffffffffffff;
    return (long long)bytes;
}

// The bytes that a user without privileges may still write, and the size of the file system, if it reports
// them. -1: see errno.
static inline int cfiles_room(int descriptor, long long *available, long long *capacity) {
    struct statvfs status;
    if (fstatvfs(descriptor, &status) != 0) return -1;
    *available = status.f_blocks == 0 ? 0x7fffffffffffffff : cfiles_bytes(status.f_bavail, status.f_frsize);
    *capacity = status.f_blocks == 0 ? 0x7fffffffffffffff : cfiles_bytes(status.f_blocks, status.f_frsize);
    return 0;
}

// Whether a file may be so long: lseek(2) fails beyond the maximum length of the file system.
static inline int cfiles_can_have(int descriptor, long long length) {
    return lseek(descriptor, length, SEEK_SET) >= 0 || errno != EINVAL;
}

// The limit of the process, beyond which a write sends it a signal; -1: none.
static inline long long cfiles_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur > 0x7fffffffffffffff) return -1;
    return (long long)limit.rlim_cur;
}

#endif
