// Waiting for the kernel to say that memory is short.
#ifndef COPERATIONNETWORKINGIMAGES_PRESSURE_H
#define COPERATIONNETWORKINGIMAGES_PRESSURE_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

// Opens a file of pressure stall information and asks for an event; the trigger lasts as long as the
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

// What cimages_wait answers: bits.
enum cimages_news { CIMAGES_PRESSURE = 1, CIMAGES_EVENTS = 2, CIMAGES_BELL = 4, CIMAGES_GONE = 8 };

// Blocks until something happens to one of these descriptors; -1 is none. `kind` is POLLPRI, as the kernel's
// files tell of themselves, or POLLIN in tests.
static inline int cimages_wait(int pressure, int events, int bell, short kind) {
    struct pollfd all[3] = {
        {.fd = pressure, .events = kind}, {.fd = events, .events = kind}, {.fd = bell, .events = POLLIN},
    };
    while (poll(all, 3, -1) < 0)
        if (errno != EINTR) return CIMAGES_GONE;
    int news = 0;
    for (int index = 0; index < 2; index++) {
        // A control group's file reports POLLERR beside POLLPRI; one whose group is gone, POLLERR alone.
        if (all[index].revents & kind) news |= index ? CIMAGES_EVENTS : CIMAGES_PRESSURE;
        else if (all[index].revents) news |= CIMAGES_GONE;
    }
    return all[2].revents ? news | CIMAGES_BELL : news;
}

static inline short cimages_priority_event(void) { return POLLPRI; }
static inline short cimages_input_event(void) { return POLLIN; }

#endif
