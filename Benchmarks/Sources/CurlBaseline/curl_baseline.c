#include "curl_baseline.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

struct baseline {
    CURLM *multi;
    int poller;
    long timeout;  // milliseconds; -1: none
    int left_to_start;
    int running;
    int failed;
};

static size_t discard(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    (void)context;
    return size * count;
}

static int watch(CURL *easy, curl_socket_t socket, int what, void *context, void *known) {
    (void)easy;
    struct baseline *self = context;
    struct epoll_event event = {.data.fd = socket};
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(self->poller, EPOLL_CTL_DEL, socket, &event);
        curl_multi_assign(self->multi, socket, NULL);
        return 0;
    }
    if (what & CURL_POLL_IN) event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
    epoll_ctl(self->poller, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
    curl_multi_assign(self->multi, socket, self);
    return 0;
}

static int set_timer(CURLM *multi, long milliseconds, void *context) {
    (void)multi;
    struct baseline *self = context;
    self->timeout = milliseconds;
    return 0;
}

static void start(struct baseline *self, CURL *easy) {
    self->left_to_start -= 1;
    self->running += 1;
    curl_multi_add_handle(self->multi, easy);
}

/// Counts what has ended, and starts as many again.
static void collect(struct baseline *self) {
    int queued;
    CURLMsg *message;
    while ((message = curl_multi_info_read(self->multi, &queued))) {
        CURL *easy = message->easy_handle;
        CURLcode code = message->data.result;
        long status = 0;
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        if (code != CURLE_OK || status != 200) self->failed += 1;
        curl_multi_remove_handle(self->multi, easy);
        self->running -= 1;
        if (self->left_to_start > 0) start(self, easy);
    }
}

static void run(struct baseline *self) {
    struct epoll_event events[64];
    int still_running;
    while (self->running > 0) {
        int ready = epoll_wait(self->poller, events, 64, (int)self->timeout);
        if (ready == 0 || self->timeout == 0) {
            curl_multi_socket_action(self->multi, CURL_SOCKET_TIMEOUT, 0, &still_running);
        }
        for (int index = 0; index < ready; index += 1) {
            int what = 0;
            if (events[index].events & EPOLLOUT) what |= CURL_CSELECT_OUT;
            if (events[index].events & ~(unsigned)EPOLLOUT) what |= CURL_CSELECT_IN;
            curl_multi_socket_action(self->multi, events[index].data.fd, what, &still_running);
        }
        collect(self);
    }
}

int curl_baseline_get(const char *url, int count, int in_flight) {
    if (count < in_flight) in_flight = count;
    struct baseline self = {
        .multi = curl_multi_init(), .poller = epoll_create1(EPOLL_CLOEXEC), .timeout = -1, .left_to_start = count};
    CURL **handles = calloc((size_t)in_flight, sizeof *handles);
    int result = -1;
    if (!self.multi || self.poller < 0 || !handles) goto end;
    curl_multi_setopt(self.multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(self.multi, CURLMOPT_SOCKETDATA, &self);
    curl_multi_setopt(self.multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(self.multi, CURLMOPT_TIMERDATA, &self);
    for (int index = 0; index < in_flight; index += 1) {
        CURL *easy = handles[index] = curl_easy_init();
        if (!easy) goto end;
        curl_easy_setopt(easy, CURLOPT_URL, url);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        start(&self, easy);
    }
    run(&self);
    result = self.failed;
end:
    for (int index = 0; handles && index < in_flight; index += 1) {
        if (!handles[index]) continue;
        curl_multi_remove_handle(self.multi, handles[index]);
        curl_easy_cleanup(handles[index]);
    }
    free(handles);
    curl_multi_cleanup(self.multi);
    if (self.poller >= 0) close(self.poller);
    return result;
}
