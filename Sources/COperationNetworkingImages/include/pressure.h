// Waiting for the kernel to report that memory is short.
#ifndef COPERATIONNETWORKINGIMAGES_PRESSURE_H
#define COPERATIONNETWORKINGIMAGES_PRESSURE_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

// Opens a file of pressure stall information and registers a trigger, which lasts as long as the
// descriptor (Documentation/accounting/psi.rst of the kernel). -1 with errno.
static inline int cimages_open_pressure(const char *path, const char *trigger) {
    int descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return -1;
    // With its terminating null byte, as the kernel's example writes it.
    if (write(descriptor, trigger, strlen(trigger) + 1) < 0) {
        int code = errno;
        close(descriptor);
        errno = code;
        return -1;
    }
    return descriptor;
}

static inline int cimages_open_events(const char *path) {
    return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

static inline int cimages_make_bell(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

static inline void cimages_ring(int bell) {
    eventfd_write(bell, 1);
}

// What poll(2) found at each descriptor: its `revents`.
struct cimages_polled { short pressure, events, bell; };

// Blocks until something happens to one of these descriptors; -1 is none. `kind` is POLLPRI, as the kernel's
// files report, or POLLIN in tests.
static inline struct cimages_polled cimages_wait(int pressure, int events, int bell, short kind) {
    struct pollfd all[3] = {
        {.fd = pressure, .events = kind}, {.fd = events, .events = kind}, {.fd = bell, .events = POLLIN},
    };
    while (poll(all, 3, -1) < 0)
        if (errno != EINTR) return (struct cimages_polled){.pressure = POLLERR};
    return (struct cimages_polled){all[0].revents, all[1].revents, all[2].revents};
}

// Whether the bell is rung within a time; it is not silenced.
static inline int cimages_wait_for_bell(int bell, int milliseconds) {
    struct pollfd one = {.fd = bell, .events = POLLIN};
    int count;
    do count = poll(&one, 1, milliseconds);
    while (count < 0 && errno == EINTR);
    return count != 0;
}

static inline short cimages_priority_event(void) { return POLLPRI; }
static inline short cimages_input_event(void) { return POLLIN; }

#endif
