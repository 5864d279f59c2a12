/* Many documents in one file: JSONL, CSV and TSV (the first row names the fields; without a
 * text field all of them are the text, "name: value" a line), a JSON array (HippoRAG's corpora). All
 * become one JSON object after the other. One thread. */
#ifndef QP_INGEST_RECORDS_H
#define QP_INGEST_RECORDS_H

#include "ingest/extract.h"

typedef struct qp_records qp_records;

typedef enum qp_record_kind { QP_JSONL, QP_CSV, QP_TSV, QP_JSON } qp_record_kind;

/* path null: `bytes` (kept until close) are read instead. */
qp_code qp_records_open(qp_record_kind, const char *path, qp_str bytes, qp_records **, qp_err *);
void qp_records_close(qp_records *); /* takes null */

/* The next record's JSON text, valid until the next call, and its line (CSV: its row, JSON: its place,
 * both from 1). json->at null: no more. Memory is bounded by the longest record (JSON: by the file). */
qp_code qp_records_next(qp_records *, qp_str *json, uint64_t *line, qp_err *);

/* One record's parts. The id is `_id`, `id`, `docid` or `idx`, the text `text`, `contents`, `content` or `body`; the
 * title `title`; every other field is metadata. Strings live in the arena. */
typedef struct qp_record {
    qp_str id, title, text, meta;
    uint64_t replaced; /* broken bytes and NULs */
} qp_record;
qp_code qp_record_parse(qp_str json, qp_record *, qp_arena *, qp_err *);

#endif
