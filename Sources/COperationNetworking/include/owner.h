// The users who may have written a file. `struct stat`, `struct passwd` and `struct group` belong to
// different modules in every build.
#ifndef COPERATIONNETWORKING_OWNER_H
#define COPERATIONNETWORKING_OWNER_H

#include <sys/stat.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

// A regular file, its owner, and the others that may write it.
struct cowner {
    int is_mine, others_may_write, group_may_write;
    unsigned group;
    unsigned long long device, inode;
    long long length, seconds, nanoseconds;
};

// 1: a regular file, 0: something else, -1: see errno.
static inline int cowner_of_descriptor(int descriptor, struct cowner *owner) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return -1;
    owner->is_mine = status.st_uid == geteuid();
    owner->others_may_write = (status.st_mode & S_IWOTH) != 0;
    owner->group_may_write = (status.st_mode & S_IWGRP) != 0;
    owner->group = status.st_gid;
    owner->device = status.st_dev;
    owner->inode = status.st_ino;
    owner->length = status.st_size;
    owner->seconds = status.st_mtim.tv_sec;
    owner->nanoseconds = status.st_mtim.tv_nsec;
    return S_ISREG(status.st_mode);
}

// Whether an access control list names others than owner and group. Where it does, the group's bits are its
// mask.
static inline int cowner_has_list(int descriptor) {
    return fgetxattr(descriptor, "system.posix_acl_access", NULL, 0) > 0;
}

// In owner.c. Whether the group is that of the effective user alone, as far as the databases show: a group
// with the user's name, and no other member.
int cowner_is_private_group(unsigned group);

// The extended attribute of an open file; -1 with errno where there is none, or it is longer.
static inline long cowner_attribute(int descriptor, const char *name, void *bytes, size_t capacity) {
    return fgetxattr(descriptor, name, bytes, capacity);
}

static inline int cowner_set_attribute(int descriptor, const char *name, const void *bytes, size_t length) {
    return fsetxattr(descriptor, name, bytes, length, 0);
}

static inline int cowner_remove_attribute(int descriptor, const char *name) {
    return fremovexattr(descriptor, name);
}

#endif
