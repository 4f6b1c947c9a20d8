// Starting decoder processes.
#ifndef COPERATIONNETWORKINGIMAGES_PROCESS_H
#define COPERATIONNETWORKINGIMAGES_PROCESS_H

#include <sys/types.h>

// In process.c. Starts this program again as a decoder, which has nothing but its end of a socket: no other
// descriptor, no environment but what the dynamic linker needs, no session of the terminal. The other end is
// written to `application`, and neither blocks nor survives an exec. `handle` gets a descriptor of the
// process, or one of the two below. 0, or the number of an error.
int cimages_start_decoder(pid_t *process, int *handle, int *application);

// There is no handle: the number of the process has to do.
#define CIMAGES_NO_HANDLE -1
// The process has ended, and its number may be another one's.
#define CIMAGES_HANDLE_GONE -2

// Ends a decoder at once by its handle, and closes that: a number may be another process's by now, if the
// program waits for all of its children. Answers how it ended: the number of its signal; 0 when it had ended
// by itself.
int cimages_end_decoder(pid_t process, int handle);

#endif
