/* The settings of `quipu index -o KEY=VALUE`. What a run does not say is as the index was made before, and what the
 * index does not say either is the default. */
#ifndef QP_INGEST_SETTINGS_H
#define QP_INGEST_SETTINGS_H

#include "base/hash.h"
#include "ingest/cut.h"
#include "store/store.h"

typedef struct qp_reading {
    const char *chunk; /* "auto", "tokens", "chars", "whole" */
    int64_t chunk_size, overlap;
    const char *language, *include, *exclude, *format, *references, *triples, *names, *partition, *walks;
    const char *graph, *er, *spans; /* "auto", "text", "links"; "relative", "literal"; "both", "ngrams", "names" */
    const char *relations, *relations_prompt; /* "words", "writer"; a file, or "" */
    const char *facts;                        /* "pooled", "embedded" */
    const char *doc2query_prompt;             /* a file, or "" */
    int64_t b, doc2query;
    const char *tokens; /* "no", "yes" */
    double tau, phi;
} qp_reading;

/* Those given, and for the rest those kept. */
qp_code qp_reading_load(qp_store *, const qp_setting *, size_t n, qp_reading *, qp_arena *, qp_err *);
/* Keeps in the store those that all runs share: once they were found good. */
qp_code qp_reading_keep(qp_store *, const qp_reading *, qp_err *);

/* How to cut; records: of JSONL, CSV and data sets, where auto is 4,096 characters (FastInsight's), not tokens. */
qp_code qp_reading_cutting(const qp_reading *, const qp_model *embedder, bool records, qp_cutting *, qp_err *);

/* All that decides what reading a source's bytes gives, but the bytes. */
qp_digest qp_reading_digest(const qp_reading *, const qp_cutting *);

#endif
