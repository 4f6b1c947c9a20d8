// OpenSSL's message digests, from the one libcrypto that libcurl already brought into the process.
#ifndef COPERATIONNETWORKING_DIGEST_H
#define COPERATIONNETWORKING_DIGEST_H

#include <openssl/err.h>
#include <openssl/evp.h>

#endif
