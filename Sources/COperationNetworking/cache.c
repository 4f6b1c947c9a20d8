#define _GNU_SOURCE
#include "cache.h"

void ccache_begin_writeback(int descriptor, long long offset, long long length) {
    sync_file_range(descriptor, offset, length, SYNC_FILE_RANGE_WRITE);
}
