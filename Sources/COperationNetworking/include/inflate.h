// zlib: inflateInit2 is a macro, which Swift does not import.
#ifndef COPERATIONNETWORKING_INFLATE_H
#define COPERATIONNETWORKING_INFLATE_H

#include <string.h>
#include <zlib.h>

// `window_bits` as in zlib.h: 15 zlib, 31 gzip, -15 raw deflate.
static inline int cinflate_init(z_stream *stream, int window_bits) {
    memset(stream, 0, sizeof(*stream));
    return inflateInit2(stream, window_bits);
}

#endif
