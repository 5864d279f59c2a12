#include "base/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct qp_scratch {
    char *folder;
    char *buffer;
    size_t cap, n;    /* of the buffer: what follows the file's bytes */
    uint64_t on_disk; /* bytes in the file */
    int fd;           /* -1: there is none yet */
};

qp_code qp_scratch_open(const char *folder, size_t buffer, qp_scratch **out, qp_err *err)
{
    qp_scratch *s = calloc(1, sizeof *s);

    if (!s)
        return qp_oom(err);
    s->fd = -1;
    s->cap = buffer ? buffer : 1;
    s->folder = strdup(folder);
    s->buffer = malloc(s->cap);
    if (!s->folder || !s->buffer) {
        qp_scratch_close(s);
        return qp_oom(err);
    }
    *out = s;
    return QP_OK;
}

void qp_scratch_close(qp_scratch *s)
{
    if (!s)
        return;
    if (s->fd >= 0)
        close(s->fd);
    free(s->buffer);
    free(s->folder);
    free(s);
}

uint64_t qp_scratch_size(const qp_scratch *s)
{
    return s->on_disk + s->n;
}

uint64_t qp_scratch_on_disk(const qp_scratch *s)
{
    return s->on_disk;
}

static qp_code failed(const qp_scratch *s, const char *what, int why, qp_err *err)
{
    return qp_fail(err, QP_STORE, "%s: %s a temporary file, %llu MB so far: %s; make room there", s->folder, what,
                   (unsigned long long)(s->on_disk >> 20), strerror(why));
}

static qp_code open_file(qp_scratch *s, qp_err *err)
{
    char path[4096];

    s->fd = open(s->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (s->fd >= 0)
        return QP_OK;
    if (snprintf(path, sizeof path, "%s/quipu-XXXXXX", s->folder) >= (int)sizeof path)
        return failed(s, "cannot make", ENAMETOOLONG, err);
    s->fd = mkostemp(path, O_CLOEXEC); /* a file system without files that have no name */
    if (s->fd < 0)
        return failed(s, "cannot make", errno, err);
    unlink(path);
    return QP_OK;
}

static qp_code write_bytes(qp_scratch *s, const char *at, size_t n, qp_err *err)
{
    if (s->fd < 0 && n) {
        qp_code code = open_file(s, err);
        if (code)
            return code;
    }
    while (n) {
        ssize_t wrote = pwrite(s->fd, at, n, (off_t)s->on_disk);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return failed(s, "cannot write", wrote ? errno : ENOSPC, err);
        at += wrote;
        n -= (size_t)wrote;
        s->on_disk += (uint64_t)wrote;
    }
    return QP_OK;
}

qp_code qp_scratch_add(qp_scratch *s, const void *bytes, size_t n, qp_err *err)
{
    if (n > s->cap - s->n) {
        qp_code code = write_bytes(s, s->buffer, s->n, err);
        if (code)
            return code;
        s->n = 0;
        if (n > s->cap)
            return write_bytes(s, bytes, n, err);
    }
    memcpy(s->buffer + s->n, bytes, n);
    s->n += n;
    return QP_OK;
}

qp_code qp_scratch_read(const qp_scratch *s, uint64_t at, void *bytes, size_t n, qp_err *err)
{
    char *to = bytes;

    while (n && at < s->on_disk) {
        size_t most = n < s->on_disk - at ? n : (size_t)(s->on_disk - at);
        ssize_t got = pread(s->fd, to, most, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return qp_fail(err, QP_STORE, "%s: a temporary file cannot be read back: %s", s->folder,
                           got ? strerror(errno) : "it ends too early");
        to += got;
        at += (uint64_t)got;
        n -= (size_t)got;
    }
    if (n)
        memcpy(to, s->buffer + (at - s->on_disk), n);
    return QP_OK;
}
