// A library for LD_PRELOAD: a name server that does not answer, without a network. getaddrinfo(3) for a name that ends
// in ".slow.test" waits until slow_resolver_open() is called, 20 seconds at most, and then says that there is no such
// name. Names that begin with "loopback." are 127.0.0.1: hosts of domains that belong to others. All other names go to
// libc.
//
//     cc -shared -fPIC -o slow_resolver.so slow_resolver.c -ldl -lpthread

#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int arrivals = 0;
static int is_open = 0;

static struct timespec from_now(int seconds) {
    struct timespec moment;
    clock_gettime(CLOCK_REALTIME, &moment);
    moment.tv_sec += seconds;
    return moment;
}

// Waits until `count` look-ups have come, ten seconds at most; returns how many have.
int slow_resolver_wait(int count) {
    struct timespec limit = from_now(10);
    pthread_mutex_lock(&lock);
    while (arrivals < count && pthread_cond_timedwait(&changed, &lock, &limit) == 0) {
    }
    int result = arrivals;
    pthread_mutex_unlock(&lock);
    return result;
}

// Lets every look-up end, now and later.
void slow_resolver_open(void) {
    pthread_mutex_lock(&lock);
    is_open = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **results) {
    static const char suffix[] = ".slow.test";
    static const char prefix[] = "loopback.";
    if (name && strncmp(name, prefix, sizeof(prefix) - 1) == 0) name = "127.0.0.1";
    size_t length = name ? strlen(name) : 0;
    if (length < sizeof(suffix) || strcmp(name + length - (sizeof(suffix) - 1), suffix) != 0) {
        int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
            dlsym(RTLD_NEXT, "getaddrinfo");
        return real ? real(name, service, hints, results) : EAI_FAIL;
    }
    struct timespec limit = from_now(20);
    pthread_mutex_lock(&lock);
    arrivals++;
    pthread_cond_broadcast(&changed);
    while (!is_open && pthread_cond_timedwait(&changed, &lock, &limit) == 0) {
    }
    pthread_mutex_unlock(&lock);
    return EAI_NONAME;
}
