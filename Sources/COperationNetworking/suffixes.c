#define _GNU_SOURCE
#include "suffixes.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

static pthread_once_t is_open = PTHREAD_ONCE_INIT;
// Lasts as long as the process.
static const void *list;
static int (*is_suffix)(const void *list, const char *domain);

static void open_list(void) {
    const void *(*latest)(const char *file) = (const void *(*)(const char *))dlsym(RTLD_DEFAULT, "psl_latest");
    const void *(*builtin)(void) = (const void *(*)(void))dlsym(RTLD_DEFAULT, "psl_builtin");
    is_suffix = (int (*)(const void *, const char *))dlsym(RTLD_DEFAULT, "psl_is_public_suffix");
    if (is_suffix == NULL) return;
    // As libcurl does.
    if (latest != NULL) list = latest(NULL);
    if (list == NULL && builtin != NULL) list = builtin();
}

int csuffixes_are_known(void) {
    pthread_once(&is_open, open_list);
    return list != NULL;
}

int csuffixes_contain(const char *domain) {
    return csuffixes_are_known() && is_suffix(list, domain) == 1;
}
