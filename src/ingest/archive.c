#include "ingest/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#include <stdlib.h>

enum { MOST_BYTES = 256 << 20, MOST_FILES = 10000, BLOCK = 64 << 10 };

static qp_code read_entry(struct archive *a, qp_buf *out, size_t *total, qp_err *err)
{
    for (;;) {
        char *room = qp_buf_room(out, BLOCK);
        la_ssize_t n = room ? archive_read_data(a, room, BLOCK) : 0;

        if (!room)
            return qp_oom(err);
        if (n < 0)
            return qp_fail(err, QP_INPUT, "damaged archive: %s",
                           archive_error_string(a) ? archive_error_string(a) : "?");
        if (n == 0)
            return QP_OK;
        out->n += (size_t)n;
        out->at[out->n] = 0;
        *total += (size_t)n;
        if (*total > MOST_BYTES)
            return qp_fail(err, QP_INPUT, "unpacks to more than %d MiB, which no document should", MOST_BYTES >> 20);
    }
}

static qp_code keep_entry(struct archive *a, const char *name, qp_archive *out, size_t *total, qp_err *err)
{
    bool added;

    if (out->n % 64 == 0) {
        qp_buf *grown = realloc(out->files, (out->n + 64) * sizeof *grown);
        if (!grown)
            return qp_oom(err);
        out->files = grown;
    }
    out->files[out->n] = (qp_buf){0};
    uint64_t *slot = qp_map_put(out->names, qp_str_of(name), &added);
    if (!slot)
        return qp_oom(err);
    *slot = out->n++;
    return read_entry(a, &out->files[out->n - 1], total, err);
}

qp_code qp_archive_open(qp_str bytes, bool (*wanted)(const char *name), qp_archive *out, qp_err *err)
{
    struct archive *a = archive_read_new();
    struct archive_entry *entry;
    size_t total = 0, seen = 0;
    qp_code code = QP_OK;
    int rc = ARCHIVE_OK;

    *out = (qp_archive){.names = qp_map_new()};
    if (!a || !out->names) {
        archive_read_free(a);
        return qp_oom(err);
    }
    archive_read_support_format_zip(a);
    /* Names are UTF-8, whatever the program's locale is; of this thread only. */
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0), before = utf8 ? uselocale(utf8) : (locale_t)0;
    if (archive_read_open_memory(a, bytes.at, bytes.n) != ARCHIVE_OK)
        code = qp_fail(err, QP_INPUT, "no ZIP archive: %s", archive_error_string(a) ? archive_error_string(a) : "?");
    while (!code && ((rc = archive_read_next_header(a, &entry)) == ARCHIVE_OK || rc == ARCHIVE_WARN)) {
        const char *name = archive_entry_pathname(entry);
        if (++seen > MOST_FILES)
            code = qp_fail(err, QP_INPUT, "holds more than %d files, which no document should", MOST_FILES);
        else if (name && (!wanted || wanted(name)))
            code = keep_entry(a, name, out, &total, err);
    }
    if (!code && rc != ARCHIVE_EOF)
        code = qp_fail(err, QP_INPUT, "damaged archive: %s", archive_error_string(a) ? archive_error_string(a) : "?");
    archive_read_free(a);
    if (utf8) {
        uselocale(before);
        freelocale(utf8);
    }
    if (code)
        qp_archive_close(out);
    return code;
}

void qp_archive_close(qp_archive *a)
{
    for (size_t i = 0; i < a->n; i++)
        qp_buf_free(&a->files[i]);
    free(a->files);
    qp_map_free(a->names);
    *a = (qp_archive){0};
}

qp_str qp_archive_file(const qp_archive *a, qp_str name)
{
    const uint64_t *slot = qp_map_get(a->names, name);
    return slot ? qp_buf_view(&a->files[*slot]) : (qp_str){0};
}

qp_code qp_unzip(qp_str bytes, qp_buf *out, qp_err *err)
{
    struct archive *a = archive_read_new();
    struct archive_entry *entry;
    size_t total = 0;
    qp_code code = QP_OK;

    if (!a)
        return qp_oom(err);
    archive_read_support_filter_gzip(a);
    archive_read_support_filter_bzip2(a);
    archive_read_support_filter_xz(a);
    archive_read_support_format_raw(a);
    archive_read_support_format_empty(a);
    int rc = archive_read_open_memory(a, bytes.at, bytes.n);
    rc = rc == ARCHIVE_OK ? archive_read_next_header(a, &entry) : rc;
    if (rc == ARCHIVE_OK)
        code = read_entry(a, out, &total, err);
    else if (rc != ARCHIVE_EOF) /* that is an empty file */
        code =
            qp_fail(err, QP_INPUT, "cannot be unpacked: %s", archive_error_string(a) ? archive_error_string(a) : "?");
    archive_read_free(a);
    return code;
}
