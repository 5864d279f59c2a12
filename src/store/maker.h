/* A snapshot in the making. First all documents, in rising order of key; then all entities, in rising order of (scope,
 * name); then all edges, in any order; then a vector for each node, in order; then the learned terms of each, then the
 * attention heads' outputs of each; then finish. The file's bytes are a function of what is given, and of nothing else.
 * Names, nodes and edges wait in temporary files in the file's folder; in memory are words' postings, codes of vectors,
 * and what store/links.h says.
 */
#ifndef QP_STORE_MAKER_H
#define QP_STORE_MAKER_H

#include "quipu_op.h"
#include "store/document.h"

typedef struct qp_maker qp_maker;

typedef struct qp_maker_options {
    const char *language;  /* of terms; see text/terms.h */
    const char *embedder;  /* digest of the model the vectors are from; "" for none */
    uint32_t dim;          /* of the vectors; 0: none will be given */
    const char *sparse;    /* digest of the model the learned terms are from; null or "" for none */
    uint32_t terms;        /* their ids are below it; 0: none will be given */
    const char *expander;  /* digest of what the chunks' questions are from; null or "" for none: they are not read */
    uint32_t coded_from;   /* nodes from which vectors are also kept as int8; 0: QP_CODED_FROM */
    float phi;             /* entities whose vectors have a larger cosine become synonyms; 0 or 1: none */
    uint32_t pairs_to;     /* see store/synonyms.h; 0: QP_SYNONYM_PAIRS */
    uint32_t ann_from;     /* nodes from which an approximate index is built; 0: QP_ANN_FROM */
    const char *attention; /* digest of the model the heads' outputs are from; null or "" for none */
    uint32_t heads, head_dim; /* 0: none will be given */
    uint32_t token_dim;       /* of vectors of tokens; 0: none will be given */
    bool triples;             /* are there vectors of triples? */
    /* As the file is finished: what was made (a vector, heads) of a relation's name, or of a triple's text. *found
     * false: nothing. Null: there is nothing. */
    qp_code (*made)(void *ctx, qp_made, qp_str text, float *out, bool *found, qp_err *);
    void *ctx;
    bool unindexed_entities;    /* leave their names out of the words' index */
    bool partition, walks;      /* keep communities, random walks (store/precompute.h) */
    size_t memory;              /* bytes for sorting edges; 0: QP_LINKS_MEMORY */
    int threads;                /* to finish with; 0: one per core; the bytes are the same */
    volatile const int *cancel; /* or null */
} qp_maker_options;

/* Below QP_CODED_FROM a scan of f32 takes under a millisecond. Below QP_ANN_FROM the scan of int8 takes a few, needs no
 * building, and finds .999 after re-scoring (tests/unit/test_dense.c). */
enum { QP_CODED_FROM = 10000, QP_ANN_FROM = 200000 };

/* A file at `path`, which is replaced. The options' strings are read at once, `made` and ctx until finish. */
qp_code qp_maker_open(const char *path, const qp_maker_options *, qp_maker **, qp_err *);
/* Reads key, title, path, format, language, meta, text, chunks and, with an expander, questions. */
qp_code qp_maker_document(qp_maker *, const qp_document *, qp_err *);
/* text: what is said of it besides its name; may be empty. */
qp_code qp_maker_entity(qp_maker *, qp_str scope, qp_str name, qp_str text, qp_err *);
uint32_t qp_maker_nodes(const qp_maker *); /* so far: the id of the next document's first node */
/* text: what is said of it besides; may be empty. */
qp_code qp_maker_edge(qp_maker *, qp_id from, qp_id to, qp_str type, float weight, qp_str text, qp_err *);
/* dim floats, or null for a node without one. */
qp_code qp_maker_vector(qp_maker *, const float *, qp_err *);
/* The next node's learned terms; null for a node without any. Weights below half of 1 / QP_IMPACT are left out. */
qp_code qp_maker_terms(qp_maker *, const qp_sparse *, qp_err *);
/* heads x head_dim floats, or null for a node without. */
qp_code qp_maker_heads(qp_maker *, const float *, qp_err *);
/* The next passage's tokens (qp_token_bytes each, store/tokens.h), for each passage. */
qp_code qp_maker_tokens(qp_maker *, const char *vectors, uint32_t n, qp_err *);
/* Writes the rest; the file then lies at its path, not yet synced. Frees the maker, also on failure. */
qp_code qp_maker_finish(qp_maker *, qp_err *);
void qp_maker_drop(qp_maker *); /* instead of finish: removes the file; takes null */

#endif
