#define _GNU_SOURCE
#include "confinement.h"
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <errno.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SHADOW_MEMORY 1
#endif
#endif

#if defined(__x86_64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define ALLOW(name) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

// /proc/self/statm, opened before it cannot be any more.
static int memory_file = -1;

int cimages_confine(void) {
    memory_file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
#ifdef THIS_ARCHITECTURE
    struct sock_filter instructions[] = {
        // The numbers below are those of one architecture.
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        // The socket.
        ALLOW(read), ALLOW(write),
        // Memory. That it can be made executable is no matter: there is nothing more to be done from there.
        ALLOW(mmap), ALLOW(munmap), ALLOW(mremap), ALLOW(mprotect), ALLOW(madvise), ALLOW(brk),
        // The process's own memory and limits, which it may only lower or move up to what was set before.
        ALLOW(pread64), ALLOW(getrusage), ALLOW(setrlimit),
        // Locks, clocks, and the end. No signal can be sent, so what aborts ends by another one.
        ALLOW(futex), ALLOW(clock_gettime), ALLOW(sched_yield), ALLOW(rt_sigreturn), ALLOW(rt_sigaction),
        ALLOW(rt_sigprocmask), ALLOW(sigaltstack), ALLOW(getpid), ALLOW(gettid), ALLOW(exit), ALLOW(exit_group),
        // prlimit64 for this process, which is 0, and for no other one.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_prlimit64, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog program = {.len = sizeof instructions / sizeof instructions[0], .filter = instructions};
#ifdef HAS_SHADOW_MEMORY
    unsigned flags = 0;  // the sanitizer has a thread, which sleeps
#else
    unsigned flags = SECCOMP_FILTER_FLAG_TSYNC;  // for threads that another library's constructor has made
#endif
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 0;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0;
#else
    return 0;
#endif
}

void cimages_limit(uint64_t memory, uint32_t seconds) {
    struct rusage spent;
    struct rlimit limit;
    if (getrusage(RUSAGE_SELF, &spent) == 0 && getrlimit(RLIMIT_CPU, &limit) == 0) {
        // The soft limit only: it is set again for the next image.
        limit.rlim_cur = spent.ru_utime.tv_sec + spent.ru_stime.tv_sec + 2 + seconds;
        if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_CPU, &limit);
    }
#ifdef HAS_SHADOW_MEMORY
    (void)memory;  // terabytes of addresses
#else
    char text[64] = {0};
    if (memory_file < 0 || pread(memory_file, text, sizeof text - 1, 0) <= 0) return;
    uint64_t present = strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
    if (getrlimit(RLIMIT_AS, &limit) != 0) return;
    limit.rlim_cur = memory ? present + memory : limit.rlim_max;
    if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_AS, &limit);
#endif
}
