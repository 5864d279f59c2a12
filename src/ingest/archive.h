/* Files inside a ZIP (DOCX, EPUB), and gzip: by libarchive, within limits that keep a bomb small. Any thread. */
#ifndef QP_INGEST_ARCHIVE_H
#define QP_INGEST_ARCHIVE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"

typedef struct qp_archive {
    qp_map *names; /* name -> place in files */
    qp_buf *files;
    size_t n;
} qp_archive;

/* Unpacks the files whose names `wanted` says yes to; null: all. At most 256 MiB together and 10,000 of them, else
 * QP_INPUT. Names are as the archive has them; nothing is written anywhere. */
qp_code qp_archive_open(qp_str bytes, bool (*wanted)(const char *name), qp_archive *, qp_err *);
void qp_archive_close(qp_archive *);
qp_str qp_archive_file(const qp_archive *, qp_str name); /* at null: not there */

/* gzip, bzip2, xz or plain bytes, unpacked. */
qp_code qp_unzip(qp_str bytes, qp_buf *, qp_err *);

#endif
