// epoll(7): struct epoll_event is packed and holds a union, so Swift sees only plain integers.
#ifndef COPERATIONNETWORKING_EPOLL_H
#define COPERATIONNETWORKING_EPOLL_H

#include <errno.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

static inline int cepoll_create(void) {
    return epoll_create1(EPOLL_CLOEXEC);
}

// `operation` is EPOLL_CTL_ADD, _MOD or _DEL; `token` comes back with each event.
static inline int cepoll_control(int poller, int operation, int descriptor, uint32_t events, uint64_t token) {
    struct epoll_event event = { .events = events, .data = { .u64 = token } };
    return epoll_ctl(poller, operation, descriptor, &event);
}

enum { CEPOLL_BATCH = 256 };

struct cepoll_batch {
    struct epoll_event events[CEPOLL_BATCH];
};

// What is ready now, at most CEPOLL_BATCH events; never waits.
static inline int cepoll_poll(int poller, struct cepoll_batch *batch) {
    int count;
    do {
        count = epoll_wait(poller, batch->events, CEPOLL_BATCH, 0);
    } while (count < 0 && errno == EINTR);
    return count;
}

static inline uint64_t cepoll_token(const struct cepoll_batch *batch, int index) {
    return batch->events[index].data.u64;
}

static inline uint32_t cepoll_events(const struct cepoll_batch *batch, int index) {
    return batch->events[index].events;
}

#endif
