// OpenSSL's certificates and their verification. Its stacks and some accessors are macros, which Swift does
// not import.
#ifndef COPERATIONNETWORKING_CERTIFICATES_H
#define COPERATIONNETWORKING_CERTIFICATES_H

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <openssl/x509_vfy.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline int ccertificates_count(const STACK_OF(X509) *stack) {
    return stack == NULL ? 0 : sk_X509_num(stack);
}

// Whether the last failure on this thread was caused by an algorithm that OpenSSL does not support, or only
// with its legacy provider. Clears all errors of the thread.
static inline bool ccertificates_knows_no_algorithm(void) {
    bool found = false;
    for (unsigned long error = ERR_get_error(); error != 0; error = ERR_get_error()) {
        int reason = ERR_GET_REASON(error);
        // OpenSSL's decoders report the same reason for any data that they cannot parse.
        bool is_cipher = ERR_GET_LIB(error) == ERR_LIB_EVP;
        found = found || (is_cipher && (reason == ERR_GET_REASON(ERR_R_UNSUPPORTED) ||
                                        reason == EVP_R_UNSUPPORTED_ALGORITHM));
    }
    return found;
}

// Borrowed from the stack.
static inline X509 *ccertificates_at(const STACK_OF(X509) *stack, int index) {
    return sk_X509_value(stack, index);
}

static inline STACK_OF(X509) *ccertificates_new_stack(void) {
    return sk_X509_new_null();
}

// Takes a reference of its own.
static inline bool ccertificates_push(STACK_OF(X509) *stack, X509 *certificate) {
    return X509_add_cert(stack, certificate, X509_ADD_FLAG_UP_REF) == 1;
}

// With the references in it.
static inline void ccertificates_free_stack(STACK_OF(X509) *stack) {
    sk_X509_pop_free(stack, X509_free);
}

// Prints a name on one line, as RFC 2253 has it, but UTF-8 as it is.
static inline void ccertificates_print_subject(BIO *output, const X509 *certificate) {
    X509_NAME_print_ex(output, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
}

// Whether the certificate names its hosts where RFC 9110 section 4.3.4 requires it: by a dNSName or an iPAddress
// of its subjectAltName.
static inline bool ccertificates_has_alternative_names(const X509 *certificate) {
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    bool found = false;
    for (int index = 0; index < sk_GENERAL_NAME_num(names); index++) {
        int type = sk_GENERAL_NAME_value(names, index)->type;
        found = found || type == GEN_DNS || type == GEN_IPADD;
    }
    GENERAL_NAMES_free(names);
    return found;
}

// Frees `object` by `release` when `context` is freed: a connection outlives the transfer that opened it, and
// verifies certificates again when it renegotiates.
bool ccertificates_keep(SSL_CTX *context, void *object, void (*release)(void *object));

// Has `verify` called, with `object`, instead of OpenSSL's own verification
// (SSL_CTX_set_cert_verify_callback(3)).
static inline void ccertificates_set_verifier(SSL_CTX *context,
                                              int (*verify)(X509_STORE_CTX *verification, void *object),
                                              void *object) {
    SSL_CTX_set_cert_verify_callback(context, verify, object);
}

// The passphrase of a private key is only ever the one that was given: OpenSSL's default reads it from
// the terminal.
static inline int ccertificates_passphrase(char *buffer, int size, int writing, void *passphrase) {
    (void)writing;
    if (passphrase == NULL) return -1;
    size_t length = strlen((const char *)passphrase);
    if (length > (size_t)size) return -1;
    memcpy(buffer, passphrase, length);
    return (int)length;
}

#endif
