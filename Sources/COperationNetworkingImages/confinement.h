// What a decoder process may do, which is next to nothing: its limits, and its system calls.
#ifndef COPERATIONNETWORKINGIMAGES_CONFINEMENT_H
#define COPERATIONNETWORKINGIMAGES_CONFINEMENT_H

#include <stdint.h>

// From now on this process reads and writes open descriptors, takes memory, and ends; all other system calls
// fail with EPERM. 0 where the kernel has no filters.
int cimages_confine(void);

// The limits for one image, beyond what the process has and has spent by now. 0: no limit of memory.
void cimages_limit(uint64_t memory, uint32_t seconds);

#endif
