// The libraries of the content codings, and what Swift cannot import of them.
#ifndef COPERATIONNETWORKING_COMPRESSION_H
#define COPERATIONNETWORKING_COMPRESSION_H

#include <brotli/decode.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

// zlib: inflateInit2 is a macro. `window_bits` as in zlib.h: 15 zlib, 31 gzip, -15 raw deflate.
static inline int cinflate_init(z_stream *stream, int window_bits) {
    memset(stream, 0, sizeof(*stream));
    return inflateInit2(stream, window_bits);
}

#endif
