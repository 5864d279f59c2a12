/* Which reader a file is for: by its name, and where that says nothing by its first bytes. Any thread. */
#ifndef QP_INGEST_FORMAT_H
#define QP_INGEST_FORMAT_H

#include "ingest/reader.h"
#include "ingest/records.h"

typedef struct qp_format {
    const char *name;    /* "markdown" */
    qp_read_fn read;     /* null: records */
    qp_record_kind kind; /* of records */
} qp_format;

const qp_format *qp_format_named(const char *name); /* null: none */
/* head: the first bytes of the file (all that there is, up to 4 KiB). Null: nothing we read (an image, a program,
 * ...). */
const qp_format *qp_format_of(qp_str file_name, qp_str head);

#endif
