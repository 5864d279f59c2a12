#include "store/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"

struct head_and_toc {
    qp_head head;
    qp_toc_entry toc[QP_SECTIONS];
};

struct qp_writer {
    FILE *file;
    char *path;
    uint64_t at; /* bytes written, or to be written by the padding */
    int section; /* begun last; -1: none */
    int failed;  /* errno of the first failure */
    struct head_and_toc front;
};

static void emit(qp_writer *w, const void *bytes, size_t n)
{
    if (!w->failed && n && fwrite(bytes, 1, n, w->file) != n)
        w->failed = errno ? errno : EIO;
    w->at += n;
}

static void align(qp_writer *w)
{
    static const char zeros[QP_SECTION_ALIGN];
    emit(w, zeros, (size_t)(-w->at % QP_SECTION_ALIGN));
}

qp_code qp_writer_open(const char *path, qp_writer **out, qp_err *err)
{
    qp_writer *w = calloc(1, sizeof *w);
    *out = NULL;
    if (!w || !(w->path = strdup(path))) {
        free(w);
        return qp_oom(err);
    }
    w->section = -1;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    w->file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (fd >= 0 && !w->file)
        close(fd);
    if (!w->file) {
        qp_code code = qp_fail(err, QP_STORE, "%s: cannot be written: %s", path, strerror(errno));
        free(w->path);
        free(w);
        return code;
    }
    setvbuf(w->file, NULL, _IOFBF, 1 << 20);
    emit(w, &w->front, sizeof w->front); /* its place; the truth comes last */
    *out = w;
    return QP_OK;
}

void qp_writer_begin(qp_writer *w, qp_section section)
{
    align(w);
    w->section = section;
    w->front.toc[section].at = w->at;
}

uint64_t qp_writer_add(qp_writer *w, const void *bytes, size_t n)
{
    emit(w, bytes, n);
    return w->front.toc[w->section].bytes += n;
}

void qp_writer_put(qp_writer *w, qp_section section, const void *bytes, size_t n)
{
    qp_writer_begin(w, section);
    qp_writer_add(w, bytes, n);
}

/* Reads the sections back for their checksums: what is summed is what the file holds. */
static qp_code sum(qp_writer *w, qp_err *err)
{
    qp_mapped map;
    qp_code code = qp_file_map(w->path, &map, err);
    if (code)
        return code;
    if (map.n != w->at)
        code = qp_fail(err, QP_STORE, "%s: was changed by another program while it was written", w->path);
    for (int i = 0; !code && i < QP_SECTIONS; i++) {
        qp_toc_entry *e = &w->front.toc[i];
        if (!e->at) /* a section nobody began is an empty one at the end */
            e->at = w->at;
        e->checksum = qp_hash64((qp_str){(const char *)map.at + e->at, e->bytes});
    }
    qp_file_unmap(&map);
    w->front.head = (qp_head){QP_SNAPSHOT_MAGIC, QP_SNAPSHOT_VERSION, QP_SECTIONS, w->at, 0};
    w->front.head.checksum = qp_hash64((qp_str){(const char *)&w->front, sizeof w->front});
    return code;
}

qp_code qp_writer_close(qp_writer *w, qp_err *err)
{
    align(w);
    if (!w->failed && fflush(w->file))
        w->failed = errno;
    qp_code code = w->failed ? QP_STORE : sum(w, err);
    if (!code &&
        (fseek(w->file, 0, SEEK_SET) || fwrite(&w->front, sizeof w->front, 1, w->file) != 1 || fflush(w->file)))
        w->failed = errno;
    if (w->failed)
        code = qp_fail(err, QP_STORE, "%s: cannot be written: %s: %s", w->path, strerror(w->failed),
                       w->failed == ENOSPC || w->failed == EFBIG || w->failed == EDQUOT
                           ? "make room and run it again, the index is as it was"
                           : "the index is as it was");
    if (code) {
        qp_writer_drop(w);
        return code;
    }
    fclose(w->file);
    free(w->path);
    free(w);
    return QP_OK;
}

void qp_writer_drop(qp_writer *w)
{
    if (!w)
        return;
    fclose(w->file);
    unlink(w->path);
    free(w->path);
    free(w);
}
