// CRC-32C, with the instruction that most processors have for it.
#ifndef COPERATIONNETWORKING_CHECKSUM_H
#define COPERATIONNETWORKING_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

// The checksum of bytes that follow others with the checksum `sum`; 0 for none.
uint32_t cchecksum_add(uint32_t sum, const void *bytes, size_t count);

// The same by a table, which every processor can.
uint32_t cchecksum_add_by_table(uint32_t sum, const void *bytes, size_t count);

#endif
