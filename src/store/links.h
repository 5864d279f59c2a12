/* Edges in the making: added in any order, written as rows both ways. */
#ifndef QP_STORE_LINKS_H
#define QP_STORE_LINKS_H

#include <stdbool.h>

#include "base/str.h"
#include "graph/csr.h"
#include "store/writer.h"

typedef struct qp_links qp_links;

qp_links *qp_links_new(void);   /* null without memory */
void qp_links_free(qp_links *); /* takes null */
/* text: what is said of it besides; may be empty. */
qp_code qp_links_add(qp_links *, uint32_t from, uint32_t to, qp_str type, float weight, qp_str text, qp_err *);

typedef struct qp_links_how {
    uint32_t nodes;
    bool keep;                  /* qp_links_graph is asked later */
    volatile const int *cancel; /* or null */
} qp_links_how;
/* Reads info->entity and info->synonyms. Writes TYPES, EDGE_*, SAID*, OUT, IN, IN_EDGE, BOTH, BOTH_NODE; edges that repeat
 * (from, to, type) become one with the largest weight and all texts, each once, parted by line breaks. QP_STOPPED:
 * cancelled. */
qp_code qp_links_write(qp_links *, const qp_links_how *, qp_writer *, qp_buf *strings, qp_info *, qp_err *);
/* Once written: the edges in their order, types by the places of their names. */
qp_str qp_links_type(const qp_links *, uint32_t type);
/* If it was kept: all edges both ways, but those that are only walked across (qp_walk). */
qp_csr qp_links_graph(const qp_links *, uint32_t nodes);
size_t qp_links_count(const qp_links *);
void qp_links_at(const qp_links *, size_t i, uint32_t *from, uint32_t *to, uint32_t *type);

#endif
