/* What the readers of triples share: one reading, and the calls that clean what was read, hand it to the sink and
 * report what is left out. A reader is a file, triples_*.c. */
#ifndef QP_INGEST_TRIPLES_READER_H
#define QP_INGEST_TRIPLES_READER_H

#include "ingest/tell.h"
#include "ingest/triples.h"

enum { QP_TRIPLES_LINE = 4 << 20 }; /* bytes of a line: three names of the longest, and what parts them */

typedef struct qp_reading_triples {
    const qp_triples_source *source;
    const qp_triple_sink *sink;
    qp_triples_report *report;
    const char *name; /* of the file, for messages */
    uint64_t line;    /* at hand: kept by the reader */
    qp_tell tell;
    uint64_t left_out; /* in this reading */
    qp_buf fixed[5];   /* names and texts that had to be repaired */
} qp_reading_triples;

typedef qp_code (*qp_triples_fn)(qp_reading_triples *, qp_err *);
qp_code qp_triples_tsv(qp_reading_triples *, qp_err *);
qp_code qp_triples_ntriples(qp_reading_triples *, qp_err *);
qp_code qp_triples_turtle(qp_reading_triples *, qp_err *);
qp_code qp_triples_nodes(qp_reading_triples *, qp_err *);
qp_code qp_triples_edges(qp_reading_triples *, qp_err *);
qp_code qp_triples_graphml(qp_reading_triples *, qp_err *);
qp_code qp_triples_graphs(qp_reading_triples *, qp_err *);
qp_code qp_triples_mentions(qp_reading_triples *, qp_err *);
qp_code qp_triples_lightrag(qp_reading_triples *, qp_err *);
qp_code qp_triples_hipporag(qp_reading_triples *, qp_err *);
qp_code qp_triples_entities(qp_reading_triples *, qp_err *);
qp_code qp_triples_relations(qp_reading_triples *, qp_err *);

/* Does a file begin so that tells names of ids? */
bool qp_triples_has_names(qp_str head);

/* Trimmed and repaired, to the sink. *taken (may be null): it was not left out. */
qp_code qp_reading_triple(qp_reading_triples *, qp_triple, bool *taken, qp_err *);
qp_code qp_reading_entity(qp_reading_triples *, qp_entity, qp_err *);
qp_code qp_reading_relation(qp_reading_triples *, qp_entity, qp_err *);
qp_code qp_reading_provenance(qp_reading_triples *, qp_str entity, qp_str document, qp_err *);
qp_code qp_reading_scope(qp_reading_triples *, qp_str id, bool *taken, qp_err *);

/* The line at hand is left out, for this reason: counted, told, and with `strict` the end. */
qp_code qp_reading_left_out(qp_reading_triples *, qp_err *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same if code is QP_INPUT (`why` says it); other errors are handed on. */
qp_code qp_reading_judge(qp_reading_triples *, qp_code, const qp_err *why, qp_err *);
/* Each line that is not blank, to `take`; one of more than `longest` bytes is left out. */
qp_code qp_reading_lines(qp_reading_triples *, size_t longest, qp_code (*take)(void *ctx, qp_str line, qp_err *),
                         void *ctx, qp_err *);
/* Progress and cancel: once a line (qp_reading_lines does it). */
qp_code qp_reading_look(qp_reading_triples *, qp_err *);

#endif
