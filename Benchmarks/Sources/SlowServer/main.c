// A server that keeps its clients waiting: it answers each request with the head and the first half of a body of 1,024
// bytes, and sends all the other halves when as many requests as its argument says have come. With 0 it accepts
// connections, reads, and never answers.
//
//   SlowServer COUNT    prints its port on 127.0.0.1; ends when its standard input does

#define _GNU_SOURCE  // accept4
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 1024\r\n\r\n";

static void fail(const char *what) {
    fprintf(stderr, "SlowServer: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void add(int poller, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event)) fail("epoll_ctl");
}

int main(int count, char **arguments) {
    int wanted = count == 2 ? atoi(arguments[1]) : 0;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    int *waiting = calloc((size_t)wanted + 1, sizeof *waiting);
    int came = 0;
    char half[512];
    memset(half, 'x', sizeof half);

    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 4096)) fail("listen");
    getsockname(listener, (struct sockaddr *)&address, &length);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);

    int poller = epoll_create1(EPOLL_CLOEXEC);
    add(poller, listener);
    add(poller, STDIN_FILENO);
    while (1) {
        struct epoll_event events[256];
        int ready = epoll_wait(poller, events, 256, -1);
        for (int index = 0; index < ready; index += 1) {
            int descriptor = events[index].data.fd;
            char bytes[4096];
            if (descriptor == listener) {
                int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
                if (client < 0) fail("accept4");
                add(poller, client);
                continue;
            }
            // A request fits into one segment of loopback.
            if (read(descriptor, bytes, sizeof bytes) <= 0) {
                if (descriptor == STDIN_FILENO) return 0;
                close(descriptor);
                continue;
            }
            if (came >= wanted) continue;
            if (send(descriptor, head, sizeof head - 1, MSG_MORE) < 0 || send(descriptor, half, sizeof half, 0) < 0) continue;
            waiting[came] = descriptor;
            came += 1;
            if (came < wanted) continue;
            for (int index = 0; index < wanted; index += 1) send(waiting[index], half, sizeof half, MSG_NOSIGNAL);
        }
    }
}
