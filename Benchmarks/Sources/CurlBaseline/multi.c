#include "multi.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

static size_t discard(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    (void)context;
    return size * count;
}

static int watch(CURL *easy, curl_socket_t socket, int what, void *context, void *known) {
    (void)easy;
    struct multi *self = context;
    struct epoll_event event = {.data.fd = socket};
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(self->poller, EPOLL_CTL_DEL, socket, &event);
        curl_multi_assign(self->handle, socket, NULL);
        return 0;
    }
    if (what & CURL_POLL_IN) event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
    epoll_ctl(self->poller, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
    curl_multi_assign(self->handle, socket, self);
    return 0;
}

static int set_timer(CURLM *multi, long milliseconds, void *context) {
    (void)multi;
    struct multi *self = context;
    self->timeout = milliseconds;
    return 0;
}

int multi_open(struct multi *self) {
    *self = (struct multi){.handle = curl_multi_init(), .poller = epoll_create1(EPOLL_CLOEXEC), .timeout = -1};
    if (!self->handle || self->poller < 0) return -1;
    curl_multi_setopt(self->handle, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(self->handle, CURLMOPT_SOCKETDATA, self);
    curl_multi_setopt(self->handle, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(self->handle, CURLMOPT_TIMERDATA, self);
    return 0;
}

void multi_close(struct multi *self) {
    if (self->handle) curl_multi_cleanup(self->handle);
    if (self->poller >= 0) close(self->poller);
}

int multi_pass(struct multi *self, int extra) {
    struct epoll_event events[64];
    int still_running;
    int found = 0;
    int ready = epoll_wait(self->poller, events, 64, (int)self->timeout);
    if (ready == 0 || self->timeout == 0) {
        curl_multi_socket_action(self->handle, CURL_SOCKET_TIMEOUT, 0, &still_running);
    }
    for (int index = 0; index < ready; index += 1) {
        if (events[index].data.fd == extra) {
            found = 1;
            continue;
        }
        int what = 0;
        if (events[index].events & EPOLLOUT) what |= CURL_CSELECT_OUT;
        if (events[index].events & ~(unsigned)EPOLLOUT) what |= CURL_CSELECT_IN;
        curl_multi_socket_action(self->handle, events[index].data.fd, what, &still_running);
    }
    return found;
}

CURL *multi_get(const char *url) {
    CURL *easy = curl_easy_init();
    if (!easy) return NULL;
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    // With HTTP/2 all go over one connection.
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    const char *authorities = getenv("SSL_CERT_FILE");
    if (authorities) curl_easy_setopt(easy, CURLOPT_CAINFO, authorities);
    return easy;
}

int multi_succeeded(const CURLMsg *message) {
    long status = 0;
    curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
    return message->data.result == CURLE_OK && status == 200;
}
