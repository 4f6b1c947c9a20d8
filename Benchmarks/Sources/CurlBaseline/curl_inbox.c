// The same requests as curl_baseline.c with the two hops of an operation: each request is handed to the thread of the
// multi handle through a list under a mutex and an eventfd(2), and its end is handed to another thread the same way, which
// then hands over the next request.

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "curl_baseline.h"
#include "multi.h"

struct request {
    struct request *next;
    CURL *easy;
    int succeeded;
};

/// A list of requests that one thread adds to and another takes as a whole; the descriptor becomes readable when there is
/// something in it.
struct inbox {
    pthread_mutex_t lock;
    struct request *first;
    struct request **last;
    int event;
};

struct program {
    struct inbox begin;  // to the network thread
    struct inbox end;    // to the thread that ends requests
    struct multi multi;
    int in_flight;
    int stops;  // written before the last signal of `begin`
};

static int inbox_open(struct inbox *self, int flags) {
    pthread_mutex_init(&self->lock, NULL);
    self->first = NULL;
    self->last = &self->first;
    self->event = eventfd(0, EFD_CLOEXEC | flags);
    return self->event < 0 ? -1 : 0;
}

static void inbox_close(struct inbox *self) {
    if (self->event >= 0) close(self->event);
    pthread_mutex_destroy(&self->lock);
}

static void inbox_signal(struct inbox *self) {
    uint64_t one = 1;
    if (write(self->event, &one, sizeof one) < 0) return;  // readable already
}

/// Wakes the reader only when the list was empty: it takes all of it.
static void inbox_add(struct inbox *self, struct request *request) {
    request->next = NULL;
    pthread_mutex_lock(&self->lock);
    int was_empty = !self->first;
    *self->last = request;
    self->last = &request->next;
    pthread_mutex_unlock(&self->lock);
    if (was_empty) inbox_signal(self);
}

static struct request *inbox_take(struct inbox *self) {
    uint64_t count;
    if (read(self->event, &count, sizeof count) < 0) return NULL;
    pthread_mutex_lock(&self->lock);
    struct request *first = self->first;
    self->first = NULL;
    self->last = &self->first;
    pthread_mutex_unlock(&self->lock);
    return first;
}

static void *run_network(void *context) {
    struct program *self = context;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = self->begin.event};
    epoll_ctl(self->multi.poller, EPOLL_CTL_ADD, self->begin.event, &event);
    while (1) {
        if (multi_pass(&self->multi, self->begin.event)) {
            for (struct request *request = inbox_take(&self->begin); request;) {
                struct request *next = request->next;
                curl_multi_add_handle(self->multi.handle, request->easy);
                request = next;
            }
            if (self->stops) return NULL;
        }
        int queued;
        CURLMsg *message;
        while ((message = curl_multi_info_read(self->multi.handle, &queued))) {
            CURL *easy = message->easy_handle;
            struct request *request;
            curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&request);
            request->succeeded = multi_succeeded(message);
            curl_multi_remove_handle(self->multi.handle, easy);
            inbox_add(&self->end, request);
        }
    }
}

int curl_inbox_get(const char *url, int count, int in_flight) {
    if (count < in_flight) in_flight = count;
    struct program self = {.in_flight = in_flight, .begin.event = -1, .end.event = -1};
    struct request *requests = calloc((size_t)in_flight, sizeof *requests);
    pthread_t network;
    int result = -1;
    int failed = 0;
    int is_open = !multi_open(&self.multi);
    if (inbox_open(&self.begin, EFD_NONBLOCK) || inbox_open(&self.end, 0) || !is_open || !requests) goto end;
    for (int index = 0; index < in_flight; index += 1) {
        requests[index].easy = multi_get(url);
        if (!requests[index].easy) goto end;
        curl_easy_setopt(requests[index].easy, CURLOPT_PRIVATE, &requests[index]);
    }
    if (pthread_create(&network, NULL, run_network, &self)) goto end;
    int left_to_start = count - in_flight;
    for (int index = 0; index < in_flight; index += 1) inbox_add(&self.begin, &requests[index]);
    for (int left = count; left > 0;) {
        for (struct request *request = inbox_take(&self.end); request;) {
            struct request *next = request->next;
            left -= 1;
            if (!request->succeeded) failed += 1;
            if (left_to_start > 0) {
                left_to_start -= 1;
                inbox_add(&self.begin, request);
            }
            request = next;
        }
    }
    self.stops = 1;
    inbox_signal(&self.begin);
    pthread_join(network, NULL);
    result = failed;
end:
    for (int index = 0; requests && index < in_flight; index += 1) {
        if (requests[index].easy) curl_easy_cleanup(requests[index].easy);
    }
    free(requests);
    multi_close(&self.multi);
    inbox_close(&self.begin);
    inbox_close(&self.end);
    return result;
}
