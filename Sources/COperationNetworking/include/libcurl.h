// libcurl, typed. curl_easy_setopt, curl_multi_setopt and curl_easy_getinfo are variadic, and Swift cannot
// call variadic C functions: each type of argument gets one wrapper.
#ifndef COPERATIONNETWORKING_LIBCURL_H
#define COPERATIONNETWORKING_LIBCURL_H

#include <curl/curl.h>

typedef size_t (*clibcurl_data_callback)(char *bytes, size_t size, size_t count, void *context);
typedef int (*clibcurl_seek_callback)(void *context, curl_off_t offset, int origin);
typedef curl_socket_t (*clibcurl_open_socket_callback)(void *context, curlsocktype purpose,
                                                       struct curl_sockaddr *address);
typedef int (*clibcurl_before_request_callback)(void *context, char *remote, char *local, int remote_port,
                                                int local_port);
typedef int (*clibcurl_progress_callback)(void *context, curl_off_t download_total, curl_off_t download_now,
                                          curl_off_t upload_total, curl_off_t upload_now);
typedef int (*clibcurl_log_callback)(CURL *easy, curl_infotype type, char *bytes, size_t count, void *context);
typedef int (*clibcurl_socket_callback)(CURL *easy, curl_socket_t socket, int what, void *context,
                                        void *socket_context);
typedef int (*clibcurl_timer_callback)(CURLM *multi, long milliseconds, void *context);

static inline CURLcode clibcurl_global_init(void) {
    return curl_global_init(CURL_GLOBAL_DEFAULT);
}

static inline const curl_version_info_data *clibcurl_version(void) {
    return curl_version_info(CURLVERSION_NOW);
}

static inline CURLcode clibcurl_easy_setopt_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode clibcurl_easy_setopt_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode clibcurl_easy_setopt_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode clibcurl_easy_setopt_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode clibcurl_easy_setopt_url(CURL *easy, CURLU *value) {
    return curl_easy_setopt(easy, CURLOPT_CURLU, value);
}

static inline CURLcode clibcurl_easy_setopt_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

// CURLOPT_WRITEFUNCTION, CURLOPT_HEADERFUNCTION and CURLOPT_READFUNCTION.
static inline CURLcode clibcurl_easy_setopt_data_callback(CURL *easy, CURLoption option,
                                                          clibcurl_data_callback callback) {
    return curl_easy_setopt(easy, option, callback);
}

static inline CURLcode clibcurl_easy_setopt_seek_callback(CURL *easy, clibcurl_seek_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, callback);
}

static inline CURLcode clibcurl_easy_setopt_open_socket_callback(CURL *easy,
                                                                 clibcurl_open_socket_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
}

static inline CURLcode clibcurl_easy_setopt_before_request_callback(CURL *easy,
                                                                    clibcurl_before_request_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}

static inline CURLcode clibcurl_easy_setopt_progress_callback(CURL *easy, clibcurl_progress_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, callback);
}

static inline CURLcode clibcurl_easy_setopt_log_callback(CURL *easy, clibcurl_log_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, callback);
}

// CURLOPT_SSL_CTX_FUNCTION: `tls_context` is an SSL_CTX, with OpenSSL.
typedef CURLcode (*clibcurl_tls_callback)(CURL *easy, void *tls_context, void *context);

static inline CURLcode clibcurl_easy_setopt_tls_callback(CURL *easy, clibcurl_tls_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, callback);
}

// CURLOPT_CAINFO_BLOB, CURLOPT_SSLCERT_BLOB, CURLOPT_SSLKEY_BLOB: libcurl makes a copy.
static inline CURLcode clibcurl_easy_setopt_blob(CURL *easy, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {.data = (void *)bytes, .len = count, .flags = CURL_BLOB_COPY};
    return curl_easy_setopt(easy, option, &blob);
}

// With strings of C: making one of a Swift string costs more than the call.
static inline CURLcode clibcurl_easy_setopt_empty(CURL *easy, CURLoption option) {
    return curl_easy_setopt(easy, option, "");
}

static inline CURLcode clibcurl_easy_setopt_web_protocols(CURL *easy) {
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
}

static inline CURLcode clibcurl_easy_getinfo_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode clibcurl_easy_getinfo_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode clibcurl_easy_getinfo_pointer(CURL *easy, CURLINFO info, void **value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode clibcurl_easy_getinfo_list(CURL *easy, CURLINFO info, struct curl_slist **value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLMcode clibcurl_multi_setopt_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode clibcurl_multi_setopt_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode clibcurl_multi_setopt_socket_callback(CURLM *multi, clibcurl_socket_callback callback) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, callback);
}

static inline CURLMcode clibcurl_multi_setopt_timer_callback(CURLM *multi, clibcurl_timer_callback callback) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, callback);
}

static inline CURLSHcode clibcurl_share_setopt_data(CURLSH *share, CURLSHoption option, curl_lock_data data) {
    return curl_share_setopt(share, option, data);
}

// The next finished transfer, or NULL; `result` is its end.
static inline CURL *clibcurl_multi_next_finished(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    }
    return NULL;
}

// Macros with casts, which Swift does not import.
#define CLIBCURL_WRITE_PAUSE ((size_t)0x10000001)
#define CLIBCURL_READ_PAUSE ((size_t)0x10000001)
#define CLIBCURL_READ_ABORT ((size_t)0x10000000)
#define CLIBCURL_AUTH_BASIC 1L
#define CLIBCURL_AUTH_DIGEST 2L
#define CLIBCURL_AUTH_NEGOTIATE 4L
#define CLIBCURL_AUTH_NTLM 8L
_Static_assert(CURLAUTH_BASIC == 1 && CURLAUTH_DIGEST == 2 && CURLAUTH_NEGOTIATE == 4 && CURLAUTH_NTLM == 8,
               "libcurl changed CURLAUTH");
_Static_assert(CURL_WRITEFUNC_PAUSE == 0x10000001, "libcurl changed CURL_WRITEFUNC_PAUSE");
_Static_assert(CURL_READFUNC_PAUSE == 0x10000001, "libcurl changed CURL_READFUNC_PAUSE");
_Static_assert(CURL_READFUNC_ABORT == 0x10000000, "libcurl changed CURL_READFUNC_ABORT");
_Static_assert(CURL_SOCKET_TIMEOUT == CURL_SOCKET_BAD && CURL_SOCKET_BAD == -1, "libcurl changed CURL_SOCKET_BAD");

#endif
