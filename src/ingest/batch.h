/* Documents on their way from bytes into the store, some hundreds at a time: their bytes are hashed in parallel, what
 * the store has already is let go, the rest is read and cut in parallel and put one after the other, in order. One
 * thread calls; the others are the batch's own.
 */
#ifndef QP_INGEST_BATCH_H
#define QP_INGEST_BATCH_H

#include "base/map.h"
#include "ingest/expander.h"
#include "ingest/format.h"
#include "ingest/settings.h"

typedef struct qp_job { /* of qp_ingest, for all its sources */
    qp_store *store;
    const qp_model *embedder, *sparse, *attention, *writer;
    int threads; /* of reading; 0: one per core */
    const qp_index_options *options;
    qp_index_report *report;
    qp_reading reading;
    qp_cutting files, records; /* how to cut either */
    qp_digest files_digest, records_digest;
    qp_map *seen;             /* keys of this job */
    qp_map *path_of, *key_of; /* documents in the store: key -> hash of path, path -> place in path_of */
    double began, told;       /* of the stage: for progress */
    uint64_t done, total;
    double transaction; /* when it began; 0: none is open */
    qp_expander expander;
    qp_digest tokens; /* of what vectors of tokens are kept under; "" for none */
    bool incomplete;  /* part of a source could not be read: nothing of it counts as gone */
    qp_map *broken;   /* hashes of files whose records cannot be told: what the store has of them stays */
    uint64_t put;     /* documents in it */
    struct qp_graph_file {
        const char *path;
        int kind; /* qp_triples_kind */
    } * graph;    /* files of this source that hold triples */
    size_t n_graph, cap_graph;
    qp_arena *mem;
} qp_job;

typedef struct qp_item { /* one document to be */
    const qp_format *format;
    char *path;    /* file, or null */
    qp_str key;    /* of a file; of records it comes out of the bytes */
    qp_str bytes;  /* of a record: copied; of standard input: the caller's until the flush; files are read late */
    uint64_t line; /* of a record, else 0 */
    size_t size;   /* of a file, roughly */
} qp_item;

typedef struct qp_batch qp_batch;
/* `source`: as it is kept with each document. */
qp_code qp_batch_open(qp_job *, const char *source, qp_batch **, qp_err *);
/* Adds one; runs what has gathered when that is enough. Strings of the item are copied. */
qp_code qp_batch_add(qp_batch *, const qp_item *, qp_err *);
qp_code qp_batch_flush(qp_batch *, qp_err *);
/* A key that counts as there though nothing of it was read. */
qp_code qp_batch_keep(qp_batch *, qp_str key, qp_err *);
/* Keys that this source has now, those of files that failed included. */
const qp_str *qp_batch_keys(const qp_batch *, size_t *n);
void qp_batch_close(qp_batch *); /* takes null; does not flush */

/* Helpers of whoever drives it. */
void qp_job_warn(qp_job *, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A document that failed: a warning, or with `strict` the end. */
qp_code qp_job_failed(qp_job *, const qp_err *why, qp_err *);
/* Tells progress, seldom (last: at once), and whether to go on: QP_STOPPED after cancel. */
qp_code qp_job_tell(qp_job *, const char *stage, const char *item, bool last, qp_err *);
qp_code qp_job_commit(qp_job *, qp_err *);

#endif
