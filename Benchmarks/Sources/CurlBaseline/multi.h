#ifndef CURL_BASELINE_MULTI_H
#define CURL_BASELINE_MULTI_H

#include <curl/curl.h>

/// A multi handle and the epoll(7) instance that watches its sockets, as libcurl-multi(3) describes. Owned by one thread.
struct multi {
    CURLM *handle;
    int poller;
    long timeout;  // milliseconds until libcurl wants to be called again; -1: not of itself
};

/// Returns 0, or -1 when there is no memory or no descriptor left.
int multi_open(struct multi *self);
void multi_close(struct multi *self);

/// Waits once, and lets libcurl act on what happened. Returns 1 when `extra`, a descriptor that the caller added to the
/// poller, became readable; else 0.
int multi_pass(struct multi *self, int extra);

/// An easy handle that gets `url` and throws the body away, or NULL.
CURL *multi_get(const char *url);

/// Whether the transfer of this message ended with status 200.
int multi_succeeded(const CURLMsg *message);

#endif
