// madvise(2): MADV_POPULATE_WRITE is in Linux since 5.14, and not in every libc's headers.
#ifndef COPERATIONNETWORKING_MEMORY_H
#define COPERATIONNETWORKING_MEMORY_H

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

// Has the kernel provide the whole pages from `start` to `end` now; their bytes stay. Nothing depends on
// whether it does: a page that it does not provide is provided when it is written.
static inline void cmemory_prefault(const void *start, const void *end) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = ((uintptr_t)start + page - 1) & ~(page - 1);
    uintptr_t last = (uintptr_t)end & ~(page - 1);
    if (first < last) madvise((void *)first, last - first, MADV_POPULATE_WRITE);
}

#endif
