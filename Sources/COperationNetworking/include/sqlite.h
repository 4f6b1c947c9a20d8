// SQLite. SQLITE_TRANSIENT and SQLITE_STATIC are casts to a function, which Swift does not import.
#ifndef COPERATIONNETWORKING_SQLITE_H
#define COPERATIONNETWORKING_SQLITE_H

#include <sqlite3.h>

// Copies the bytes. No bytes are an empty value, not NULL.
static inline int csqlite_bind_bytes(sqlite3_stmt *statement, int index, const void *bytes, size_t count) {
    if (count == 0) return sqlite3_bind_zeroblob(statement, index, 0);
    return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, size_t count) {
    return sqlite3_bind_text64(statement, index, text, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

#endif
