/* Rows of edges, both ways, out of their columns: who comes in, and who is next to whom. */
#ifndef QP_STORE_ROWS_H
#define QP_STORE_ROWS_H

#include "base/err.h"
#include "store/writer.h"

typedef struct qp_rows {
    uint32_t nodes;
    uint64_t edges;
    const uint32_t *from, *to, *type; /* of edges in order of (from, to) */
    uint64_t entity;                  /* nodes from here on are entities, before it passages */
    uint32_t synonym;                 /* a type; UINT32_MAX: there is none */
    size_t memory;                    /* bytes; more where a 65,536th of the nodes has more edges in */
    volatile const int *cancel;       /* or null */
    /* Neighbours but over what is only walked across (qp_walk), kept: room for nodes + 1 and for 2 x edges; or null. */
    uint64_t *kept;
    uint32_t *kept_node;
} qp_rows;

/* Is this edge only walked across: between a passage and an entity, or a synonym? */
static inline bool qp_rows_across(const qp_rows *r, uint32_t from, uint32_t to, uint32_t type)
{
    return (from < r->entity) != (to < r->entity) || type == r->synonym;
}

/* Writes IN, IN_EDGE, BOTH_NODE, BOTH; *arcs: of BOTH_NODE. QP_STOPPED: cancelled. */
qp_code qp_rows_write(const qp_rows *, qp_writer *, uint64_t *arcs, qp_err *);

#endif
