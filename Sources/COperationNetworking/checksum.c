#include "checksum.h"

#include <pthread.h>
#include <string.h>

// The polynomial of CRC-32C. The highest bit stands for x^0.
enum { lane = 4096 };
static const uint32_t polynomial = 0x82f63b78;
// x^(8 * lane) modulo the polynomial: what the register is multiplied with by `lane` zeros.
static const uint32_t lane_of_zeros = 0x35d73a62;

static uint32_t table[256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void make_table(void) {
    for (uint32_t octet = 0; octet < 256; octet++) {
        uint32_t value = octet;
        for (int bit = 0; bit < 8; bit++) value = value & 1 ? value >> 1 ^ polynomial : value >> 1;
        table[octet] = value;
    }
}

uint32_t cchecksum_add_by_table(uint32_t sum, const void *bytes, size_t count) {
    const unsigned char *next = bytes;
    pthread_once(&table_once, make_table);
    sum = ~sum;
    for (; count > 0; count--) sum = sum >> 8 ^ table[(sum ^ *next++) & 0xff];
    return ~sum;
}

#if defined(__x86_64__)

#include <cpuid.h>

#define WITH_INSTRUCTION __attribute__((target("sse4.2")))

static int has_instruction(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && c & bit_SSE4_2;
}

WITH_INSTRUCTION static inline uint32_t add_word(uint32_t sum, uint64_t word) {
    return (uint32_t)__builtin_ia32_crc32di(sum, word);
}

WITH_INSTRUCTION static inline uint32_t add_octet(uint32_t sum, unsigned char octet) {
    return __builtin_ia32_crc32qi(sum, octet);
}

#elif defined(__aarch64__) && defined(__AARCH64EL__)

#include <sys/auxv.h>

#define WITH_INSTRUCTION

static int has_instruction(void) { return getauxval(AT_HWCAP) >> 7 & 1; }  // HWCAP_CRC32

static inline uint32_t add_word(uint32_t sum, uint64_t word) {
    __asm__(".arch_extension crc\n crc32cx %w0, %w0, %x1" : "+r"(sum) : "r"(word));
    return sum;
}

static inline uint32_t add_octet(uint32_t sum, unsigned char octet) {
    __asm__(".arch_extension crc\n crc32cb %w0, %w0, %w1" : "+r"(sum) : "r"((uint32_t)octet));
    return sum;
}

#endif

#ifdef WITH_INSTRUCTION

static uint32_t multiply(uint32_t one, uint32_t other) {
    uint32_t product = 0;
    for (uint32_t bit = 1u << 31; bit != 0; bit >>= 1) {
        if (one & bit) product ^= other;
        other = other & 1 ? other >> 1 ^ polynomial : other >> 1;
    }
    return product;
}

static inline uint64_t word_at(const unsigned char *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

// An instruction waits three cycles for the one before, so three parts are added at a time.
WITH_INSTRUCTION static uint32_t add_by_instruction(uint32_t sum, const unsigned char *next, size_t count) {
    uint32_t first = ~sum;
    for (; count >= 3 * lane; count -= 3 * lane, next += 3 * lane) {
        uint32_t second = 0, third = 0;
        for (const unsigned char *word = next; word < next + lane; word += 8) {
            first = add_word(first, word_at(word));
            second = add_word(second, word_at(word + lane));
            third = add_word(third, word_at(word + 2 * lane));
        }
        second ^= multiply(lane_of_zeros, first);
        first = third ^ multiply(lane_of_zeros, second);
    }
    for (; count >= 8; count -= 8, next += 8) first = add_word(first, word_at(next));
    for (; count > 0; count--) first = add_octet(first, *next++);
    return ~first;
}

uint32_t cchecksum_add(uint32_t sum, const void *bytes, size_t count) {
    // Known after the first call; two threads that call it at once compute the same value.
    static _Atomic int known = -1;
    int has = known;
    if (has < 0) known = has = has_instruction();
    return has ? add_by_instruction(sum, bytes, count) : cchecksum_add_by_table(sum, bytes, count);
}

#else

uint32_t cchecksum_add(uint32_t sum, const void *bytes, size_t count) {
    return cchecksum_add_by_table(sum, bytes, count);
}

#endif
