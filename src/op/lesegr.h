/* The candidate subgraph that LeSeGR passes messages over: by its operator, and by a training. */
#ifndef QP_OP_LESEGR_H
#define QP_OP_LESEGR_H

#include "model/lesegr.h"
#include "op/op.h"
#include "op/overlay.h"

typedef struct qp_lesegr_opt {
    int64_t layers, n;
    const char *sparse, *encoder, *edges, *direction;
    bool graph, delta, alpha, full;
} qp_lesegr_opt;

unsigned qp_lesegr_asks(const void *opt); /* what an operator needs whose options begin with these */

/* The options, for a table over `type` that holds them as `in` ("lesegr."), or is them. */
#define QP_LESEGR_OPTIONS(type, in)                                                                                      \
    {"layers", "K: how often messages are passed; of a trained encoder its own",                                         \
     QP_INT,   offsetof(type, in layers),                                                                                \
     "2",      1,                                                                                                        \
     8,        NULL},                                                                                                    \
        {"encoder", "auto: the last trained, else untrained; none: untrained; gcn, gat, gt of the index, or a file",     \
         QP_TEXT,   offsetof(type, in encoder),                                                                          \
         "auto",    0,                                                                                                   \
         0,         NULL},                                                                                               \
        {"sparse", "delta: the sparse signal",   QP_ENUM, offsetof(type, in sparse), "bm25", 0,                          \
         0,        "bm25|tfidf|doc2query|splade"},                                                                       \
        {"n",    "chunks of a cited document that a citing chunk is joined with",                                        \
         QP_INT, offsetof(type, in n),                                                                                   \
         "4",    1,                                                                                                      \
         1000,   NULL},                                                                                                  \
        {"graph", "ablation: messages between neighbours", QP_BOOL, offsetof(type, in graph), "true", 0, 0, NULL},       \
        {"delta", "ablation: the sparse signal in the messages", QP_BOOL, offsetof(type, in delta), "true", 0, 0, NULL}, \
        {"alpha", "ablation: the likeness of neighbours in the messages",                                                \
         QP_BOOL, offsetof(type, in alpha),                                                                              \
         "true",  0,                                                                                                     \
         0,       NULL},                                                                                                 \
        {"full",  "all passages are candidates: the check of what candidates leave out",                                 \
         QP_BOOL, offsetof(type, in full),                                                                               \
         "false", 0,                                                                                                     \
         0,       NULL},                                                                                                 \
        {"edges", "edge types walked, as cites,ref; * = all", QP_TEXT, offsetof(type, in edges), "*", 0, 0, NULL},       \
    {                                                                                                                    \
        "direction", "both: neighbours are both ends of an edge; in: what a chunk cites, and the one before it",         \
            QP_ENUM, offsetof(type, in direction), "both", 0, 0, "both|in"                                               \
    }

typedef struct qp_context { /* what a place of the candidates stands for */
    const qp_id *node;      /* candidates.graph.n, rising */
    qp_candidates candidates;
    const qp_led *edge; /* what joins them: edges of the index, with the ends that the graph gives them */
    uint32_t n_edges;
} qp_context;

/* The candidates of a question: these nodes, and what of the contextual citation graph (CG-RAG, 4.2) lies between them. In
 * the query's arena; false after an error. */
bool qp_lesegr_context(qp_query *, qp_list nodes, const qp_lesegr_opt *, qp_context *);
const char *qp_sparse_index(const char *sparse);      /* "node.bm25" of "bm25" ... */
uint32_t qp_context_place(const qp_context *, qp_id); /* QP_NO_ID: not among them */

#endif
