// Starting decoder processes.
#ifndef COPERATIONNETWORKINGIMAGES_PROCESS_H
#define COPERATIONNETWORKINGIMAGES_PROCESS_H

#include <sys/types.h>

// In process.c. Starts this program again as a decoder, which has nothing but its end of a socket: no other
// descriptor, no environment but what the dynamic linker needs, no session of the terminal. The other end is
// written to `application`, and neither blocks nor survives an exec. 0, or the number of an error.
int cimages_start_decoder(pid_t *process, int *application);

// Ends a decoder at once, and answers how it ended: the number of its signal; 0 when it had ended by itself.
int cimages_end_decoder(pid_t process);

#endif
