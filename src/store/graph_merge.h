/* All graphs of the truth as one: entities in order of (scope, name), each once, whichever graphs have it; then their
 * edges. In memory are a piece of each graph and, where there are several, four bytes an entity. One thread; the store
 * must not be written meanwhile.
 */
#ifndef QP_STORE_GRAPH_MERGE_H
#define QP_STORE_GRAPH_MERGE_H

#include "store/graph.h"

typedef struct qp_graph_merge qp_graph_merge;

typedef struct qp_merged { /* what is called, in order; null: not wanted */
    qp_code (*entity)(void *ctx, qp_str scope, qp_str name, qp_str text,
                      qp_err *); /* its number: how many came before */
    qp_code (*edge)(void *ctx, uint32_t head, qp_str relation, uint32_t tail, float weight, qp_str text, qp_err *);
    qp_code (*mention)(void *ctx, uint32_t entity, int64_t document, uint32_t chunk, qp_err *);
    void *ctx;
} qp_merged;

/* Texts of an entity from several graphs are joined by line breaks, each once. */
qp_code qp_graph_merge_all(qp_store *, const qp_merged *, qp_err *);

#endif
