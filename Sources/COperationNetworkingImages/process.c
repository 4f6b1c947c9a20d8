#define _GNU_SOURCE
#include "process.h"
#include "decoder.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// The library's folders, gdk-pixbuf's own, and the options of sanitizers. Secrets of the application are in
// the rest.
static const char *const kept[] = {
    "LD_LIBRARY_PATH=", "GDK_PIXBUF_MODULE_FILE=", "ASAN_OPTIONS=", "LSAN_OPTIONS=", "TSAN_OPTIONS=",
    "UBSAN_OPTIONS=",
};

// P_PIDFD of waitid(2), which older headers do not have.
#define BY_HANDLE ((idtype_t)3)

// A handle of a child of this process (pidfd_open(2)). CIMAGES_HANDLE_GONE: another part of the program has
// waited for it, and the number may be another process's; CIMAGES_NO_HANDLE: the kernel has no handles
// (before 5.4).
static int open_child(pid_t process) {
    siginfo_t info;
    int handle = (int)syscall(SYS_pidfd_open, process, 0);
    if (handle < 0) return errno == ESRCH ? CIMAGES_HANDLE_GONE : CIMAGES_NO_HANDLE;
    if (waitid(BY_HANDLE, (id_t)handle, &info, WEXITED | WNOHANG | WNOWAIT) == 0) return handle;
    int code = errno;
    close(handle);
    return code == ECHILD ? CIMAGES_HANDLE_GONE : CIMAGES_NO_HANDLE;
}

int cimages_start_decoder(pid_t *process, int *handle, int *application) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    char *environment[sizeof kept / sizeof kept[0] + 1];
    int count = 0;
    for (char **line = environ; line && *line; line++)
        for (size_t index = 0; index < sizeof kept / sizeof kept[0]; index++)
            if (strncmp(*line, kept[index], strlen(kept[index])) == 0 && count < (int)(sizeof kept / sizeof kept[0]))
                environment[count++] = *line;
    environment[count] = NULL;
    char name[] = CIMAGES_DECODER_NAME;
    char *arguments[] = {name, NULL};

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    int code = 0;
    // First the socket: the descriptors below may be its number.
    if (!code) code = posix_spawn_file_actions_adddup2(&actions, ends[1], CIMAGES_DECODER_SOCKET);
    for (int descriptor = 0; descriptor < 3 && !code; descriptor++)
        code = posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
    if (!code) code = posix_spawn_file_actions_addclosefrom_np(&actions, CIMAGES_DECODER_SOCKET + 1);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    if (!code) code = posix_spawnattr_setsigmask(&attributes, &none);
    if (!code) code = posix_spawnattr_setsigdefault(&attributes, &all);
    if (!code)
        code = posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    if (!code) code = posix_spawn(process, "/proc/self/exe", &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (!code) {
        *handle = open_child(*process);
        if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
            code = errno;
            cimages_end_decoder(*process, *handle);
        }
    }
    if (code) {
        close(ends[0]);
        return code;
    }
    *application = ends[0];
    return 0;
}

int cimages_end_decoder(pid_t process, int handle) {
    if (handle == CIMAGES_HANDLE_GONE) return 0;
    // One that has ended by itself is there until it is waited for, and the signal does nothing.
    if (handle == CIMAGES_NO_HANDLE) {
        int status = 0;
        kill(process, SIGKILL);
        while (waitpid(process, &status, 0) < 0)
            if (errno != EINTR) return 0;
        return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }
    siginfo_t info;
    int result;
    syscall(SYS_pidfd_send_signal, handle, SIGKILL, NULL, 0);
    memset(&info, 0, sizeof info);
    while ((result = waitid(BY_HANDLE, (id_t)handle, &info, WEXITED)) < 0 && errno == EINTR) continue;
    close(handle);
    return result == 0 && info.si_code != CLD_EXITED ? info.si_status : 0;
}
