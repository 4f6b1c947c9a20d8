// open(2) is variadic, which Swift cannot call.
#ifndef COPERATIONNETWORKING_FILES_H
#define COPERATIONNETWORKING_FILES_H

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

static inline int cfiles_open(const char *path, int flags, mode_t mode) {
    return open(path, flags, mode);
}

#endif
