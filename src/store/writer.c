#include "store/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/scratch.h"
#include "base/thread.h"

enum { ASIDE = 1 << 18 }; /* bytes of a section that wait in memory */

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
    qp_scratch *aside[QP_SECTIONS];
    qp_err why; /* the first failure of those */
    qp_mapped map;
    struct head_and_toc front;
};

static void emit(qp_writer *w, const void *bytes, size_t n)
{
    if (!w->failed && n && fwrite(bytes, 1, n, w->file) != n)
        w->failed = errno ? errno : EIO;
    w->at += n;
}

static qp_code cannot(const qp_writer *w, qp_err *err)
{
    int why = w->failed;
    return qp_fail(err, QP_STORE, "%s: cannot be written: %s: %s", w->path, strerror(why),
                   why == ENOSPC || why == EFBIG || why == EDQUOT ? "make room and run it again, the index is as it was"
                                                                  : "the index is as it was");
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

static void release(qp_writer *w)
{
    for (int i = 0; i < QP_SECTIONS; i++)
        qp_scratch_close(w->aside[i]);
    qp_file_unmap(&w->map);
    fclose(w->file);
    free(w->path);
    free(w);
}

/* ---- several sections at once ---- */

static qp_code open_aside(qp_writer *w, qp_section section, qp_err *err)
{
    char *copy = strdup(w->path);
    qp_code code = copy ? qp_scratch_open(dirname(copy), ASIDE, &w->aside[section], err) : qp_oom(err);
    free(copy);
    return code;
}

uint64_t qp_writer_aside(qp_writer *w, qp_section section, const void *bytes, size_t n)
{
    if (w->why.code || (!w->aside[section] && open_aside(w, section, &w->why)))
        return 0;
    uint64_t at = qp_scratch_size(w->aside[section]);
    if (n)
        (void)qp_scratch_add(w->aside[section], bytes, n, &w->why); /* which sticks */
    return at;
}

void qp_writer_paste(qp_writer *w, qp_section section)
{
    char block[1 << 14];
    qp_scratch *from = w->aside[section];
    uint64_t size = from ? qp_scratch_size(from) : 0;
    qp_writer_begin(w, section);
    for (uint64_t at = 0; at < size && !w->why.code; at += sizeof block) {
        size_t n = size - at < sizeof block ? (size_t)(size - at) : sizeof block;
        if (!qp_scratch_read(from, at, block, n, &w->why))
            qp_writer_add(w, block, n);
    }
    qp_scratch_close(from);
    w->aside[section] = NULL;
}

qp_code qp_writer_recall(const qp_writer *w, qp_section section, uint64_t at, void *out, size_t n, qp_err *err)
{
    if (w->why.code)
        return qp_fail(err, w->why.code, "%s", w->why.message);
    return n ? qp_scratch_read(w->aside[section], at, out, n, err) : QP_OK;
}

qp_code qp_writer_map(qp_writer *w, qp_section section, const void **out, qp_err *err)
{
    qp_code code = QP_OK;
    if (w->why.code)
        return qp_fail(err, w->why.code, "%s", w->why.message);
    if (!w->failed && !w->map.at && fflush(w->file))
        w->failed = errno;
    if (w->failed)
        return cannot(w, err);
    if (!w->map.at)
        code = qp_file_map(w->path, &w->map, err);
    *out = code ? NULL : w->map.at + w->front.toc[section].at;
    return code;
}

/* ---- the end ---- */

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

qp_code qp_writer_stopped(volatile const int *cancel, qp_err *err)
{
    return qp_cancelled(cancel)
               ? qp_fail(err, QP_STOPPED, "stopped before the index was published; run it again to go on")
               : QP_OK;
}

qp_code qp_writer_close(qp_writer *w, qp_err *err)
{
    align(w);
    if (!w->failed && fflush(w->file))
        w->failed = errno;
    qp_code code = w->why.code ? qp_fail(err, w->why.code, "%s", w->why.message) : QP_OK;
    if (!code && !w->failed)
        code = sum(w, err);
    if (!code && !w->failed &&
        (fseek(w->file, 0, SEEK_SET) || fwrite(&w->front, sizeof w->front, 1, w->file) != 1 || fflush(w->file)))
        w->failed = errno;
    if (!code && w->failed)
        code = cannot(w, err);
    if (code)
        qp_writer_drop(w);
    else
        release(w);
    return code;
}

void qp_writer_drop(qp_writer *w)
{
    if (!w)
        return;
    unlink(w->path);
    release(w);
}
