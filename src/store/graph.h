/* Knowledge graphs in the truth: each source's relations, entities and triples, sorted, in pieces of about a megabyte.
 * Strings are kept once; a triple is the places of its parts in the order of entities and of relations.
 */
#ifndef QP_STORE_GRAPH_H
#define QP_STORE_GRAPH_H

#include "store/store.h"

/* ---- putting: begin, relations in byte order, entities in order of (scope, name), triples in order of (head, tail,
 * relation), end. One transaction: until its end the source's old graph stays. ---- */
typedef struct qp_graph_put qp_graph_put;
/* Is the source there with this digest? */
qp_code qp_store_graph_same(qp_store *, qp_str source, qp_str digest, bool *same, qp_err *);
/* `existed` (may be null): a graph of this source was there before. */
qp_code qp_graph_begin(qp_store *, qp_str source, qp_str digest, qp_graph_put **, bool *existed, qp_err *);
qp_code qp_graph_relation(qp_graph_put *, qp_str name, qp_err *);
qp_code qp_graph_entity(qp_graph_put *, qp_str scope, qp_str name, qp_str text, qp_err *);
/* text: what is said of it besides; may be empty. Behind a NUL in it, the keys of the documents that it is from, a line
 * each. */
qp_code qp_graph_triple(qp_graph_put *, uint32_t head, uint32_t relation, uint32_t tail, float weight, qp_str text,
                        qp_err *);
/* Of a graph drawn from the index's own texts: the entity stands in this chunk. After all triples, in any order. */
qp_code qp_graph_mention(qp_graph_put *, uint32_t entity, int64_t document, uint32_t chunk, qp_err *);
/* A text of the graph (an entity, a relation, a triple as text) has its vector from here, not from a model that reads
 * it: bytes [from, to) of what the passage of that digest is found by. The first place that a text is given counts. */
qp_code qp_graph_place(qp_graph_put *, qp_str text, qp_str passage, uint32_t from, uint32_t to, qp_err *);
/* The source itself says that an entity stands in a document, by their name and key; whether they are there is looked
 * at when mentions are drawn. Any time between begin and end; once or more. */
qp_code qp_graph_provenance(qp_graph_put *, qp_str entity, qp_str document, qp_err *);
/* Commits if code is QP_OK, else everything is as before; frees it, and gives code or its own error back. */
qp_code qp_graph_end(qp_graph_put *, qp_code code, qp_err *);

/* Graphs of `source` and of files below it (source/...) whose own sources are not among `seen`; *n of them removed. */
qp_code qp_store_graph_prune(qp_store *, qp_str source, const qp_str *seen, size_t n_seen, uint64_t *n, qp_err *);

/* Where sources place entities, over all graphs: each chunk of each document that is there, in order of name, document
 * and chunk; document 0: one that is not there. The name lives for the call. */
qp_code qp_store_provenance(qp_store *,
                            qp_code (*)(void *ctx, qp_str entity, int64_t document, uint32_t chunk, qp_err *),
                            void *ctx, qp_err *);

/* ---- reading, a piece in memory at a time ---- */
typedef struct qp_graph_row { /* a source's graph */
    int64_t row;
    qp_str source;
    uint64_t relations, entities, triples;
} qp_graph_row;
/* All graphs, in order of source; in the arena. */
qp_code qp_store_graphs(qp_store *, qp_graph_row **, size_t *n, qp_arena *, qp_err *);

typedef enum qp_graph_kind { QP_GRAPH_RELATIONS, QP_GRAPH_ENTITIES, QP_GRAPH_TRIPLES, QP_GRAPH_MENTIONS } qp_graph_kind;
typedef struct qp_graph_record { /* strings live until the next one is read */
    qp_str scope, name, text;    /* of an entity; a relation has a name, a triple a text, ... */
    qp_str documents;            /* ... and the keys of those that it is from, a line each; or empty */
    uint32_t head, relation, tail;
    float weight;
    uint32_t entity, chunk; /* of a mention */
    int64_t document;
} qp_graph_record;
typedef struct qp_graph_reader qp_graph_reader;
qp_code qp_graph_open(qp_store *, int64_t row, qp_graph_kind, qp_graph_reader **, qp_err *);
/* *more false: that was all. QP_STORE: a piece is damaged. */
qp_code qp_graph_next(qp_graph_reader *, qp_graph_record *, bool *more, qp_err *);
void qp_graph_close(qp_graph_reader *); /* takes null */

#endif
