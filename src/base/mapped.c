/* Files in memory, and what becomes of one whose pages go away under its readers: a file cut short by somebody else, a
 * bad sector, a server that is gone. The system then sends SIGBUS. Whoever reads a mapped file bears any bytes, so the
 * page is made to read as zeros, and the file is marked as lost for those who ask at the end. A program that has its
 * own handler for that signal keeps it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum { MOST_WATCHED = 64 }; /* files beyond them are mapped, and not watched */

static struct watched {
    atomic_uintptr_t at; /* 0: the place is free */
    atomic_size_t n;
    atomic_bool lost;
} watched[MOST_WATCHED];

static void on_bus(int number, siginfo_t *info, void *context)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)info->si_addr & -page;
    (void)context;
    for (int i = 0; i < MOST_WATCHED; i++) {
        struct watched *w = &watched[i];
        if (at - atomic_load(&w->at) >= atomic_load(&w->n))
            continue;
        if (mmap((void *)at, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
            break;
        atomic_store(&w->lost, true);
        return;
    }
    signal(number, SIG_DFL); /* not ours: as if we were not here */
}

static void watch(void)
{
    struct sigaction now, ours = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO};
    if (!sigaction(SIGBUS, NULL, &now) && now.sa_handler == SIG_DFL)
        sigaction(SIGBUS, &ours, NULL);
}

static int take_place(uintptr_t at, size_t n)
{
    for (int i = 0; i < MOST_WATCHED; i++) {
        uintptr_t none = 0;
        if (!atomic_compare_exchange_strong(&watched[i].at, &none, at))
            continue;
        atomic_store(&watched[i].lost, false);
        atomic_store(&watched[i].n, n);
        return i;
    }
    return -1;
}

qp_code qp_file_map(const char *path, qp_mapped *out, qp_err *err)
{
    watch();
    *out = (qp_mapped){.place = -1};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (fd < 0 || fstat(fd, &info)) {
        int why = errno;
        if (fd >= 0)
            close(fd);
        return qp_fail(err, QP_INPUT, "%s: cannot be opened: %s", path, strerror(why));
    }
    qp_code code = QP_OK;
    if (info.st_size > 0) {
        size_t n = (size_t)info.st_size;
        void *at = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0);
        if (at == MAP_FAILED)
            code = qp_fail(err, QP_INPUT, "%s: cannot be mapped: %s%s", path, strerror(errno),
                           errno == ENOMEM ? "; a larger limit helps: ulimit -v" : "");
        else
            *out = (qp_mapped){at, n, take_place((uintptr_t)at, n)};
    }
    close(fd);
    return code;
}

void qp_file_unmap(qp_mapped *m)
{
    if (m->at) {
        if (m->place >= 0)
            atomic_store(&watched[m->place].n, 0);
        munmap((void *)m->at, m->n);
        if (m->place >= 0)
            atomic_store(&watched[m->place].at, 0);
    }
    *m = (qp_mapped){.place = -1};
}

bool qp_file_is_lost(const qp_mapped *m)
{
    return m->at && m->place >= 0 && atomic_load(&watched[m->place].lost);
}
