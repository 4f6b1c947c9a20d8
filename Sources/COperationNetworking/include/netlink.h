// rtnetlink(7): the kernel's constants, and a socket whose address Swift does not have to build.
#ifndef COPERATIONNETWORKING_NETLINK_H
#define COPERATIONNETWORKING_NETLINK_H

#include <errno.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

// The changes that the socket receives: links; addresses, routes and rules of both families; nexthop objects. There
// is no RTMGRP_IPV6_RULE, and no RTMGRP_NEXTHOP.
static const uint32_t CNETLINK_CHANGES = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV4_RULE |
                                         RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE | 1u << (RTNLGRP_IPV6_RULE - 1) |
                                         1u << (RTNLGRP_NEXTHOP - 1);

// A socket of the routing protocol. `groups`: the changes that it receives. A read waits for `seconds`; 0: it
// does not wait at all. -1: see errno.
static inline int cnetlink_open(uint32_t groups, int seconds) {
    int type = SOCK_RAW | SOCK_CLOEXEC | (seconds == 0 ? SOCK_NONBLOCK : 0);
    int descriptor = socket(AF_NETLINK, type, NETLINK_ROUTE);
    if (descriptor < 0) return -1;
    struct timeval limit = { .tv_sec = seconds };
    struct sockaddr_nl address;
    memset(&address, 0, sizeof address);
    address.nl_family = AF_NETLINK;
    address.nl_groups = groups;
    if ((seconds > 0 && setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0) ||
        bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
        int code = errno;
        close(descriptor);
        errno = code;
        return -1;
    }
    return descriptor;
}

// Sends a request to the kernel. -1: see errno.
static inline ssize_t cnetlink_send(int descriptor, const void *bytes, size_t length) {
    struct sockaddr_nl kernel;
    memset(&kernel, 0, sizeof kernel);
    kernel.nl_family = AF_NETLINK;
    ssize_t sent;
    do {
        sent = sendto(descriptor, bytes, length, 0, (struct sockaddr *)&kernel, sizeof kernel);
    } while (sent < 0 && errno == EINTR);
    return sent;
}

// The length of the next datagram, which is more than `capacity` if it was cut; -1: see errno. `sender`: its
// port, 0 for the kernel. Any process may send to this socket.
static inline ssize_t cnetlink_receive(int descriptor, void *bytes, size_t capacity, uint32_t *sender) {
    struct sockaddr_nl from;
    ssize_t length;
    socklen_t size;
    do {
        memset(&from, 0, sizeof from);
        size = sizeof from;
        length = recvfrom(descriptor, bytes, capacity, MSG_TRUNC, (struct sockaddr *)&from, &size);
    } while (length < 0 && errno == EINTR);
    *sender = from.nl_pid;
    return length;
}

// The octets of an address of getaddrinfo(3), 4 or 16 of them, and its scope; 0: another family.
static inline int cnetlink_octets(const struct addrinfo *info, uint8_t octets[16], uint32_t *scope) {
    *scope = 0;
    if (info->ai_family == AF_INET) {
        memcpy(octets, &((const struct sockaddr_in *)info->ai_addr)->sin_addr, 4);
        return 4;
    }
    if (info->ai_family != AF_INET6) return 0;
    const struct sockaddr_in6 *address = (const struct sockaddr_in6 *)info->ai_addr;
    memcpy(octets, &address->sin6_addr, 16);
    *scope = address->sin6_scope_id;
    return 16;
}

// The addresses of a host, each once, without a port; see getaddrinfo(3).
static inline int cnetlink_look_up(const char *host, struct addrinfo **result) {
    struct addrinfo hints;
    memset(&hints, 0, sizeof hints);
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    return getaddrinfo(host, NULL, &hints, result);
}

#endif
