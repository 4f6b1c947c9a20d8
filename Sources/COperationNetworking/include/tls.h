// OpenSSL, from the one libssl that libcurl already brought into the process.
#ifndef COPERATIONNETWORKING_TLS_H
#define COPERATIONNETWORKING_TLS_H

#include <openssl/ssl.h>

// libcurl asks OpenSSL 3 to take a TCP connection that ends without close_notify for an orderly end. Then a body
// that lasts until the connection closes can be cut by anybody on the way (RFC 8446 section 6.1).
static inline void ctls_require_close_notify(void *tls_context) {
#ifdef SSL_OP_IGNORE_UNEXPECTED_EOF
    SSL_CTX_clear_options((SSL_CTX *)tls_context, SSL_OP_IGNORE_UNEXPECTED_EOF);
#endif
}

#endif
