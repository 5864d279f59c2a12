#include "ingest/lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 64 << 10 };

struct qp_lines {
    char *path;
    FILE *file;   /* null: of bytes */
    qp_str bytes; /* what is not read of them yet */
    size_t longest;
    qp_buf line;
    char block[BLOCK];
    size_t at, n; /* of the block */
    uint64_t number;
};

qp_code qp_lines_open(const char *path, qp_str bytes, size_t longest, qp_lines **out, qp_err *err)
{
    qp_lines *l = calloc(1, sizeof *l);

    if (!l)
        return qp_oom(err);
    *l = (qp_lines){.bytes = bytes, .longest = longest, .path = strdup(path ? path : "standard input")};
    qp_code code = l->path ? QP_OK : qp_oom(err);
    if (!code && path && !(l->file = fopen(path, "re")))
        code = qp_fail(err, QP_INPUT, "%s: cannot be read: %s", path, strerror(errno));
    if (code) {
        qp_lines_close(l);
        return code;
    }
    *out = l;
    return QP_OK;
}

void qp_lines_close(qp_lines *l)
{
    if (!l)
        return;
    if (l->file)
        fclose(l->file);
    qp_buf_free(&l->line);
    free(l->path);
    free(l);
}

uint64_t qp_lines_number(const qp_lines *l)
{
    return l->number;
}

static qp_code fill(qp_lines *l, qp_err *err)
{
    l->at = 0;
    if (l->file) {
        l->n = fread(l->block, 1, BLOCK, l->file);
        if (l->n < BLOCK && ferror(l->file))
            return qp_fail(err, QP_INPUT, "%s:%llu: reading failed: %s", l->path, (unsigned long long)l->number + 1,
                           strerror(errno));
        return QP_OK;
    }
    l->n = l->bytes.n < BLOCK ? l->bytes.n : BLOCK;
    if (l->n)
        memcpy(l->block, l->bytes.at, l->n);
    l->bytes = qp_str_slice(l->bytes, l->n, l->bytes.n);
    return QP_OK;
}

static qp_str line_of(qp_lines *l)
{
    qp_str line = qp_buf_view(&l->line);

    if (line.n && line.at[line.n - 1] == '\r') {
        l->line.at[--l->line.n] = 0;
        line.n--;
    }
    if (l->number == 1 && qp_str_starts(line, QP_STR("\xEF\xBB\xBF")))
        line = qp_str_slice(line, 3, line.n);
    return line;
}

qp_code qp_lines_next(qp_lines *l, qp_str *line, bool *whole, qp_err *err)
{
    bool ended = false, any = false;

    *line = (qp_str){0};
    *whole = true;
    qp_buf_clear(&l->line);
    while (!ended) {
        qp_code code = l->at < l->n ? QP_OK : fill(l, err);
        if (code)
            return code;
        if (!l->n)
            break;
        const char *from = l->block + l->at, *end = memchr(from, '\n', l->n - l->at);
        size_t n = end ? (size_t)(end - from) : l->n - l->at, room = l->longest - l->line.n;
        any = true;
        *whole &= n <= room;
        qp_buf_add(&l->line, from, n < room ? n : room);
        l->at += n + (end != NULL);
        ended = end;
    }
    if (l->line.oom)
        return qp_oom(err);
    if (!any)
        return QP_OK;
    l->number++;
    *line = line_of(l);
    return QP_OK;
}
