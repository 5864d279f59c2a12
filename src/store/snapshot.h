/* A snapshot: one immutable, mapped file with all a query reads; many readers, any thread, any process.
 *
 * Its sections (store/layout.h) are 64-byte aligned, each with an XXH3 checksum in the table of contents. At open every
 * count, offset and size is checked against the file's size before it is used (O(sections) eagerly; what is O(n) is
 * checked where it is read, or by qp_snapshot_check), never trusted. No pointer in a file: position independent.
 */
#ifndef QP_STORE_SNAPSHOT_H
#define QP_STORE_SNAPSHOT_H

#include "base/arena.h"
#include "quipu_op.h"

typedef struct qp_snapshot qp_snapshot;

/* The current snapshot of an index folder. QP_STORE: none, or damaged (says which section and where). */
qp_code qp_snapshot_open(const char *dir, qp_snapshot **, qp_err *);
/* One file, wherever it lies. */
qp_code qp_snapshot_open_file(const char *path, uint64_t number, qp_snapshot **, qp_err *);
/* Did a part of its file go away while it was read? Then what was read of it is worth nothing. Any thread. */
bool qp_snapshot_is_lost(const qp_snapshot *);
void qp_snapshot_close(qp_snapshot *); /* takes null */
/* Every checksum, every reference in range, every row sorted. */
qp_code qp_snapshot_check(const qp_snapshot *, qp_err *);

/* The view of it; lives as long as the snapshot. quipu_op.h has the names of its indexes. */
const qp_view *qp_snapshot_view(const qp_snapshot *);

/* Beyond the view: for output, filters and evaluation. Documents are numbered in order of key. */
uint32_t qp_snapshot_documents(const qp_snapshot *);
qp_str qp_snapshot_document_key(const qp_snapshot *, uint32_t document);
qp_str qp_snapshot_document_meta(const qp_snapshot *, uint32_t document);
uint32_t qp_snapshot_document_find(const qp_snapshot *, qp_str key); /* UINT32_MAX: not there */
uint32_t qp_snapshot_document_of(const qp_snapshot *, qp_id node);
/* Nodes of a document are [first, first + n). */
void qp_snapshot_document_nodes(const qp_snapshot *, uint32_t document, qp_id *first, uint32_t *n);
const char *qp_snapshot_embedder(const qp_snapshot *);  /* digest of the model that made node.dense; "" = none */
const char *qp_snapshot_sparse(const qp_snapshot *);    /* the same of node.splade */
const char *qp_snapshot_attention(const qp_snapshot *); /* the same of node.head and edge.head */
const char *qp_snapshot_expander(const qp_snapshot *);  /* ... of what wrote the questions of node.doc2query */
/* Vectors of tokens, and the bytes that they and their centroids take. */
void qp_snapshot_tokens(const qp_snapshot *, uint64_t *n, uint64_t *bytes);
uint32_t qp_snapshot_entities(const qp_snapshot *); /* nodes of a knowledge graph, the last ones */
uint64_t qp_snapshot_number(const qp_snapshot *);
/* "year >= 2001 and lang = 'en' and title ~ 'graph'": nodes whose document passes, one bit each, in the arena.
 * QP_NONE: none passes, and a field that is asked for is in no document. */
qp_code qp_snapshot_where(const qp_snapshot *, const char *expression, const uint64_t **allow, qp_arena *, qp_err *);

#endif
