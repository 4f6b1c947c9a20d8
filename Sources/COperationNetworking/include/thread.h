// prctl(2) is variadic, which Swift cannot call.
#ifndef COPERATIONNETWORKING_THREAD_H
#define COPERATIONNETWORKING_THREAD_H

#include <sys/prctl.h>

// Names the calling thread; the kernel keeps the first 15 bytes.
static inline void cthread_set_name(const char *name) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
}

#endif
