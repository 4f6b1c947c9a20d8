// OpenSSL, from the one libssl that libcurl already brought into the process.
#ifndef COPERATIONNETWORKING_TLS_H
#define COPERATIONNETWORKING_TLS_H

#include <curl/curl.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <string.h>

// The TLS of the transfer's connection; NULL: there is none. Call while the transfer has its connection: from
// within one of its callbacks.
static inline SSL *ctls_session(CURL *easy) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || session == NULL) return NULL;
    return session->backend == CURLSSLBACKEND_OPENSSL ? (SSL *)session->internals : NULL;
}

// Whether the server announced that it has sent everything (close_notify, RFC 8446 section 6.1). libcurl 7.88
// treats a TLS connection that ends without it as closed properly, and has no option to change that.
static inline bool ctls_has_close_notify(CURL *easy) {
    SSL *session = ctls_session(easy);
    return session != NULL && (SSL_get_shutdown(session) & SSL_RECEIVED_SHUTDOWN) != 0;
}

// Whether OpenSSL holds nothing of a record: neither whole ones, nor a part of one. The header of a record alone
// counts as nothing with SSL_has_pending(3), and is only seen in the state of its reader.
static inline bool ctls_is_between_records(const SSL *session) {
    return SSL_has_pending(session) == 0 && strcmp(SSL_rstate_string((SSL *)session), "RH") == 0;
}

// Whether a record has come in part, so that its content is not known yet. Call while the
// transfer has its connection.
static inline bool ctls_is_inside_record(CURL *easy) {
    const SSL *session = ctls_session(easy);
    return session != NULL && !ctls_is_between_records(session);
}

// The protocol that the server chose in the TLS handshake (ALPN, RFC 7301): its name's length, and the name
// in `name`, which is OpenSSL's; 0: it chose none, or there is no TLS.
static inline unsigned int ctls_chosen_protocol(CURL *easy, const unsigned char **name) {
    SSL *session = ctls_session(easy);
    unsigned int length = 0;
    if (session != NULL) SSL_get0_alpn_selected(session, name, &length);
    return length;
}

// Whether that is HTTP/2.
static inline bool ctls_has_chosen_http2(CURL *easy) {
    const unsigned char *name = NULL;
    return ctls_chosen_protocol(easy, &name) == 2 && name[0] == 'h' && name[1] == '2';
}

// OpenSSL takes itself down when the process calls exit(), under the feet of a network thread that may be in
// the middle of a handshake. The first call in a process decides: to be made before libcurl starts OpenSSL.
static inline void ctls_do_not_clean_up_at_exit(void) {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

#endif
