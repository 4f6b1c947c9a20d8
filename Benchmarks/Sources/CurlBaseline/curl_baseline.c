#include "curl_baseline.h"

#include <stdlib.h>

#include "multi.h"

struct baseline {
    struct multi multi;
    int left_to_start;
    int running;
    int failed;
};

static void start(struct baseline *self, CURL *easy) {
    self->left_to_start -= 1;
    self->running += 1;
    curl_multi_add_handle(self->multi.handle, easy);
}

/// Counts what has ended, and starts as many again.
static void collect(struct baseline *self) {
    int queued;
    CURLMsg *message;
    while ((message = curl_multi_info_read(self->multi.handle, &queued))) {
        CURL *easy = message->easy_handle;
        if (!multi_succeeded(message)) self->failed += 1;
        curl_multi_remove_handle(self->multi.handle, easy);
        self->running -= 1;
        if (self->left_to_start > 0) start(self, easy);
    }
}

int curl_baseline_get(const char *url, int count, int in_flight) {
    if (count < in_flight) in_flight = count;
    struct baseline self = {.left_to_start = count};
    CURL **handles = calloc((size_t)in_flight, sizeof *handles);
    int result = -1;
    if (multi_open(&self.multi) || !handles) goto end;
    for (int index = 0; index < in_flight; index += 1) {
        handles[index] = multi_get(url);
        if (!handles[index]) goto end;
        start(&self, handles[index]);
    }
    while (self.running > 0) {
        multi_pass(&self.multi, -1);
        collect(&self);
    }
    result = self.failed;
end:
    for (int index = 0; handles && index < in_flight; index += 1) {
        if (!handles[index]) continue;
        curl_multi_remove_handle(self.multi.handle, handles[index]);
        curl_easy_cleanup(handles[index]);
    }
    free(handles);
    multi_close(&self.multi);
    return result;
}
