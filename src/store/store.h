/* The store of record: one SQLite database per index folder ("truth.db"), WAL, one writer. Everything else in the
 * folder ("snapshot-<n>.qp", "CURRENT") can be rebuilt from it.
 *
 * A qp_store belongs to one thread. The writer holds an exclusive lock on "<dir>/lock" for as long as it is open for
 * writing; a second writer, in any process, gets QP_STORE "busy". Every acknowledged call is committed and synced.
 */
#ifndef QP_STORE_STORE_H
#define QP_STORE_STORE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "quipu_op.h"
#include "store/document.h"

typedef struct qp_store qp_store;

/* write: for changes; create: makes folder and database where there are none. QP_STORE: none is there, damaged, of
 * another version, or busy. */
qp_code qp_store_open(const char *dir, bool write, bool create, qp_store **, qp_err *);
void qp_store_close(qp_store *); /* takes null; an open batch is rolled back */

/* Bytes of memory for sorting edges when publishing; 0, as at first: QP_LINKS_MEMORY (store/links.h). */
void qp_store_memory(qp_store *, size_t bytes);
/* Threads for publishing; 0, as at first: one per core. The bytes are the same. */
void qp_store_threads(qp_store *, int threads);

/* Several puts in one transaction: begin, put..., commit. A put outside a batch is its own transaction. */
qp_code qp_store_begin(qp_store *, qp_err *);
qp_code qp_store_commit(qp_store *, qp_err *);

/* ---- documents ---- */
/* Is the document there with this digest? */
qp_code qp_store_same(qp_store *, qp_str key, qp_str digest, bool *same, qp_err *);
/* Adds, or replaces with all its chunks and references. */
qp_code qp_store_put(qp_store *, const qp_document *, bool *replaced, qp_err *);
/* Documents whose key or path is `name`; *n of them removed (0: none). */
qp_code qp_store_remove(qp_store *, qp_str name, uint64_t *n, qp_err *);
/* Documents of `source` whose keys are not among `seen`: files that are gone from a folder indexed before. */
qp_code qp_store_prune(qp_store *, qp_str source, const qp_str *seen, size_t n, uint64_t *removed, qp_err *);

/* ---- edges given by a data set, by document key; resolved against what is there when a snapshot is made ---- */
typedef struct qp_given {
    qp_str from, to, type;
    float weight;
} qp_given;
/* Replaces all edges that `source` gave before. */
qp_code qp_store_given(qp_store *, qp_str source, const qp_given *, size_t n, qp_err *);

/* ---- what resolving reads (ingest/resolve.h) and writes ---- */
typedef struct qp_stored { /* a document without its text */
    int64_t row;
    qp_str key, path, format, title, meta;
    uint32_t n_chunks;
} qp_stored;
typedef qp_code (*qp_stored_fn)(void *ctx, const qp_stored *, qp_err *);
typedef qp_code (*qp_reference_fn)(void *ctx, int64_t document, const qp_reference *, qp_err *);
typedef qp_code (*qp_anchor_fn)(void *ctx, int64_t document, qp_str name, uint32_t chunk, qp_err *);
qp_code qp_store_documents(qp_store *, qp_stored_fn, void *ctx, qp_err *); /* in order of key */
qp_code qp_store_references(qp_store *, qp_reference_fn, void *ctx, qp_err *);
qp_code qp_store_anchors(qp_store *, qp_anchor_fn, void *ctx, qp_err *);
qp_code qp_store_givens(qp_store *, qp_code (*)(void *, const qp_given *, qp_err *), void *ctx, qp_err *);

typedef struct qp_edge { /* resolved: chunk ordinals in documents, by row */
    int64_t from, to;
    uint32_t from_chunk, to_chunk;
    qp_str type;
    float weight;
} qp_edge;
/* Replaces the resolved edges of the whole index. `unknown` = given edges whose ends are not there, for stats. */
qp_code qp_store_edges(qp_store *, const qp_edge *, size_t n, uint64_t unknown, qp_err *);

/* ---- what a graph is drawn from ---- */
typedef struct qp_passage { /* strings live for the call */
    int64_t document;       /* its row ... */
    qp_str key;             /* ... and key */
    uint32_t chunk;
    qp_str title, text;
    qp_str digest;    /* of what it is found by (qp_indexed_text) ... */
    uint32_t text_at; /* ... and the byte there at which `text` begins */
} qp_passage;
typedef qp_code (*qp_passage_fn)(void *ctx, const qp_passage *, qp_err *);
qp_code qp_store_passages(qp_store *, qp_passage_fn, void *ctx, qp_err *); /* by document key, then place */
/* Of all of them, rows included; n: how many. */
qp_code qp_store_passages_digest(qp_store *, qp_digest *, uint64_t *n, qp_err *);
/* Does an edge join two documents? */
qp_code qp_store_linked(qp_store *, bool *yes, qp_err *);

/* What a writer (by its digest) said when asked that; kept at once, so that a killed run goes on. The text looked up
 * ends in a line end. Prune: what was not looked up since the store was opened, or pruned, is forgotten. */
qp_code qp_store_said(qp_store *, qp_digest asked, const char *model, qp_buf *out, bool *found, qp_err *);
qp_code qp_store_say(qp_store *, qp_digest asked, const char *model, qp_str text, qp_err *);
qp_code qp_store_said_prune(qp_store *, qp_err *);

/* ---- what models make of the texts: keyed by the digest of the indexed text and of the model, so nothing is made
 * twice ---- */
/* The next at most n distinct texts of chunks for which this model has made nothing yet, longest first; texts live in
 * the arena. *n_out = 0: all are there. *left counts them all. The snapshot is made with what the model last named here
 * made, so an index run calls this even if it expects nothing; "" = an index without. */
typedef struct qp_pending {
    qp_str text;
    char digest[33];
} qp_pending;
qp_code qp_store_pending(qp_store *, qp_made, const char *model, uint32_t n, qp_pending *out, uint32_t *n_out,
                         uint64_t *left, qp_arena *, qp_err *);
qp_code qp_store_terms(qp_store *, const char *model, const qp_pending *, uint32_t n, const qp_sparse *, qp_err *);
qp_code qp_store_vectors(qp_store *, const char *model, uint32_t dim, const qp_pending *, uint32_t n, const float *,
                         qp_err *);

/* Of one passage, a line each; `model` is the digest of all that they depend on: writer, prompt, how many. */
qp_code qp_store_questions(qp_store *, const char *model, const qp_pending *, qp_str questions, qp_err *);

/* Of each text's tokens; `model` is the digest of the embedder and of what is kept. Each number takes a byte. */
qp_code qp_store_tokens(qp_store *, const char *model, uint32_t dim, const qp_pending *, uint32_t n,
                        const qp_token_rows *, qp_err *);

/* A text of a graph that was drawn out of passages may have its vector from where it stands in one (qp_graph_place): it
 * is made with the passage's (embed_spans of a model). A passage is pending, too, while one of its places is. */
typedef struct qp_place {
    uint32_t passage, from, to; /* of the pending ones; bytes of its text */
    char digest[33];
} qp_place;
/* Those of these passages for which this model has made nothing yet, passage by passage; in the arena. */
qp_code qp_store_places(qp_store *, const char *model, const qp_pending *, uint32_t n, qp_place **, uint32_t *n_out,
                        qp_arena *, qp_err *);
qp_code qp_store_place_vectors(qp_store *, const char *model, uint32_t dim, const qp_place *, uint32_t n, const float *,
                               qp_err *);

/* The shape of what the attention heads gave: kept with it. */
qp_code qp_store_heads(qp_store *, uint32_t heads, uint32_t head_dim, qp_err *);
/* Are the index's triples to have vectors? The setting "triples" (yes, no, auto: up to QP_TRIPLES_AUTO of them). */
enum { QP_TRIPLES_AUTO = 2000000 };
qp_code qp_store_has_triples(qp_store *, bool *yes, qp_err *);
/* Has every chunk what the models last named to qp_store_pending make (or needs none)? Then no model is needed. */
qp_code qp_store_complete(qp_store *, bool *all, qp_err *);

/* Is truth.db whole, as SQLite sees it? QP_STORE if not. */
qp_code qp_store_check(qp_store *, qp_err *);

/* ---- settings of the index, as text: "embedder", "chunk", "language", ... ---- */
qp_code qp_store_set(qp_store *, const char *key, const char *value, qp_err *);
qp_code qp_store_get(qp_store *, const char *key, qp_str *value, qp_arena *, qp_err *); /* n == 0: not set */

/* ---- snapshots ---- */
/* Writes the snapshot that the truth amounts to and publishes it by one atomic rename. Its bytes are a function of the
 * documents, edges, vectors and settings alone, not of the order or history of writing. Does nothing if the current
 * one is that already. */
qp_code qp_store_publish(qp_store *, const qp_watch *, qp_err *);

/* A triple as text: "head -> relation -> tail" (methods.md, 4), appended. */
void qp_triple_text(qp_buf *, qp_str head, qp_str relation, qp_str tail);
/* What an entity is found by: its name, then what is said of it, if anything, on its own lines; in the arena. */
qp_str qp_entity_text(qp_arena *, qp_str name, qp_str text);
/* What a passage is found by: title, heading path and text, one per line; in the arena. `at` null: no memory. */
qp_str qp_indexed_text(qp_arena *, qp_str title, qp_str heading, qp_str text);

#endif
