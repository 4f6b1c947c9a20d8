#ifndef CURL_BASELINE_H
#define CURL_BASELINE_H

#include <stddef.h>

/// Gets `url` `count` times, `in_flight` at once, with nothing but libcurl's multi socket interface and epoll
/// (libcurl-multi(3), epoll(7)): the least that such a request can cost. Bodies are thrown away.
///
/// Returns how many did not end with status 200, or -1 when it could not begin.
int curl_baseline_get(const char *url, int count, int in_flight);

/// The same with the two changes of thread that an operation has: requests come to the network thread through a list under
/// a mutex and an eventfd(2), and their ends go to another thread the same way, which asks for the next ones.
int curl_inbox_get(const char *url, int count, int in_flight);

/// The bytes that malloc(3) has given out and not got back, of all arenas: mallinfo2(3).
size_t allocated_bytes(void);

#endif
