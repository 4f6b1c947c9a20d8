// The list of public suffixes of libpsl, which is there if libcurl was built on it. Nothing here is: its
// functions are looked up when the process runs.
#ifndef COPERATIONNETWORKING_SUFFIXES_H
#define COPERATIONNETWORKING_SUFFIXES_H

// In suffixes.c; from any thread. Whether the list has the domain, in lower case, ASCII and without a dot at
// its end. 0 where there is no list, too. The first call may read the system's list from the disk.
int csuffixes_contain(const char *domain);

// Whether there is a list.
int csuffixes_are_known(void);

#endif
