#include "certificates.h"
#include <pthread.h>

struct kept {
    void *object;
    void (*release)(void *object);
};

static int kept_index = -1;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void free_kept(void *parent, void *value, CRYPTO_EX_DATA *data, int index, long argument, void *context) {
    (void)parent, (void)data, (void)index, (void)argument, (void)context;
    struct kept *kept = value;
    if (kept == NULL) return;
    kept->release(kept->object);
    OPENSSL_free(kept);
}

static void make_index(void) {
    kept_index = CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL_CTX, 0, NULL, NULL, NULL, free_kept);
}

bool ccertificates_keep(SSL_CTX *context, void *object, void (*release)(void *object)) {
    pthread_once(&once, make_index);
    if (kept_index < 0) return false;
    struct kept *kept = OPENSSL_malloc(sizeof *kept);
    if (kept == NULL) return false;
    *kept = (struct kept){.object = object, .release = release};
    if (SSL_CTX_set_ex_data(context, kept_index, kept) == 1) return true;
    OPENSSL_free(kept);
    return false;
}
