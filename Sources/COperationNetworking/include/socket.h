// tcp(7), ioctl(2): what has moved on a socket, where libcurl reports only whole records and lines.
#ifndef COPERATIONNETWORKING_SOCKET_H
#define COPERATIONNETWORKING_SOCKET_H

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

// The milliseconds since something last went over a socket.
struct csocket_ages {
    uint32_t received;
    uint32_t sent;
    uint32_t acknowledged;
};

// -1: unknown, as of a socket without TCP.
static inline int csocket_ages(int socket, struct csocket_ages *ages) {
    struct tcp_info info;
    socklen_t size = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || size < sizeof info) return -1;
    ages->received = info.tcpi_last_data_recv;
    ages->sent = info.tcpi_last_data_sent;
    ages->acknowledged = info.tcpi_last_ack_recv;
    return 0;
}

// The bytes that were sent here and that the other side has not acknowledged; -1: unknown.
static inline int csocket_unacknowledged(int socket) {
    int count;
    return ioctl(socket, SIOCOUTQ, &count) == 0 ? count : -1;
}

// Whether a socket has nothing to read: neither bytes, nor the end, nor an error. Takes nothing of it.
static inline bool csocket_is_quiet(int socket) {
    char byte;
    return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

// The port of this side; -1: there is none, as the socket was closed.
static inline int csocket_local_port(int socket) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    if (getsockname(socket, (struct sockaddr *)&address, &size) != 0) return -1;
    if (address.ss_family == AF_INET) return ntohs(((struct sockaddr_in *)&address)->sin_port);
    return address.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&address)->sin6_port) : -1;
}

#endif
