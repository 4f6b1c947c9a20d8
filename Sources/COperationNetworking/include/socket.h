// tcp(7), ioctl(2): what has moved on a socket, where libcurl tells of whole records and lines only.
#ifndef COPERATIONNETWORKING_SOCKET_H
#define COPERATIONNETWORKING_SOCKET_H

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

// The milliseconds since the last byte came from the other side; -1: unknown, as of a socket without TCP.
static inline int64_t csocket_since_received(int socket) {
    struct tcp_info info;
    socklen_t size = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return -1;
    return size >= sizeof info ? (int64_t)info.tcpi_last_data_recv : -1;
}

// The bytes that were sent here and that the other side has not acknowledged; -1: unknown.
static inline int csocket_unacknowledged(int socket) {
    int count;
    return ioctl(socket, SIOCOUTQ, &count) == 0 ? count : -1;
}

#endif
