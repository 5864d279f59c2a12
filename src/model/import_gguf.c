/* GGUF files that come from elsewhere: looked over before they are taken in. */
#include "model/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/thread.h"
#include "model/gguf.h"
#include "model/keys.h"

qp_code qp_gguf_check(const char *path, qp_err *err)
{
    qp_gguf g;
    qp_code code = qp_gguf_open(path, &g, err);
    if (code)
        return code;
    if (!qp_gguf_has(&g, "general.architecture"))
        code = qp_fail(err, QP_MODEL, "%s: a GGUF file without general.architecture; it holds no model", path);
    qp_gguf_close(&g);
    return code;
}

static qp_code put_all(int fd, const char *bytes, size_t n, const char *source, qp_err *err)
{
    for (size_t done = 0; done < n;) {
        ssize_t step = write(fd, bytes + done, n - done);
        if (step < 0 && errno != EINTR)
            return qp_fail(err, QP_STORE, "the copy of %s: writing failed: %s", source, strerror(errno));
        done += step > 0 ? (size_t)step : 0;
    }
    return QP_OK;
}

static bool adds_keys(const qp_import_options *o)
{
    return o->query_prefix || o->passage_prefix || o->max_tokens;
}

/* The header again, with our keys in it; *from: where the tensors begin in the source. */
static qp_code write_header(const char *source, int to, const qp_import_options *o, off_t *from, qp_err *err)
{
    struct gguf_context *g = gguf_init_from_file(source, (struct gguf_init_params){.no_alloc = true});
    if (!g)
        return qp_fail(err, QP_MODEL, "%s: changed while it was read", source);
    *from = (off_t)gguf_get_data_offset(g);
    if (o->query_prefix)
        gguf_set_val_str(g, QP_KEY_QUERY_PREFIX, o->query_prefix);
    if (o->passage_prefix)
        gguf_set_val_str(g, QP_KEY_PASSAGE_PREFIX, o->passage_prefix);
    if (o->max_tokens)
        gguf_set_val_u32(g, QP_KEY_MAX_TOKENS, o->max_tokens);
    size_t n = gguf_get_meta_size(g);
    char *header = malloc(n);
    qp_code code = header ? QP_OK : qp_oom(err);
    if (!code) {
        gguf_get_meta_data(g, header);
        code = put_all(to, header, n, source, err);
    }
    free(header);
    gguf_free(g);
    return code;
}

static qp_code copy_rest(int from, int to, const char *source, const qp_watch *watch, qp_err *err)
{
    enum { STEP = 1 << 20 };
    struct stat info;
    double start = qp_now_ms(), last = start;
    char *bytes = malloc(STEP);
    qp_progress p = {.stage = "copy", .item = source, .done = (uint64_t)lseek(from, 0, SEEK_CUR)};
    qp_code code = bytes ? QP_OK : qp_oom(err);

    if (!fstat(from, &info))
        p.total = (uint64_t)info.st_size;
    for (ssize_t n = 1; !code && n > 0;) {
        n = read(from, bytes, STEP);
        if (n < 0)
            code = qp_fail(err, QP_INPUT, "%s: reading failed: %s", source, strerror(errno));
        else
            code = put_all(to, bytes, (size_t)n, source, err);
        p.done += n > 0 ? (uint64_t)n : 0;
        if (!code && watch && qp_cancelled(watch->cancel))
            code = qp_fail(err, QP_STOPPED, "copy of %s: stopped", source);
        if (watch && watch->progress && (qp_now_ms() - last > 100 || n == 0)) {
            last = qp_now_ms();
            p.seconds = (last - start) / 1000;
            watch->progress(watch->user, &p);
        }
    }
    free(bytes);
    return code;
}

static qp_code copy(int from, int to, const char *source, const qp_import_options *o, const qp_watch *watch,
                    qp_err *err)
{
    off_t at = 0;
    qp_code code = adds_keys(o) ? write_header(source, to, o, &at, err) : QP_OK;
    if (!code && lseek(from, at, SEEK_SET) < 0)
        code = qp_fail(err, QP_INPUT, "%s: reading failed: %s", source, strerror(errno));
    return code ? code : copy_rest(from, to, source, watch, err);
}

qp_code qp_gguf_take(const char *source, const char *path, const qp_import_options *o, const qp_watch *watch,
                     qp_err *err)
{
    qp_buf temporary = {0};
    qp_code code = qp_gguf_check(source, err);
    if (code)
        return code;
    qp_buf_fmt(&temporary, "%s.%ld.tmp", path, (long)getpid());
    if (temporary.oom)
        return qp_oom(err);
    int from = open(source, O_RDONLY | O_CLOEXEC),
        to = open(temporary.at, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (from < 0 || to < 0)
        code = qp_fail(err, QP_STORE, "%s: cannot be opened: %s", from < 0 ? source : temporary.at, strerror(errno));
    else
        code = copy(from, to, source, o, watch, err);
    if (from >= 0)
        close(from);
    if (to >= 0 && close(to) && !code)
        code = qp_fail(err, QP_STORE, "%s: writing failed: %s", temporary.at, strerror(errno));
    if (!code)
        code = qp_file_publish(temporary.at, path, err);
    if (code && to >= 0)
        unlink(temporary.at);
    qp_buf_free(&temporary);
    return code;
}
