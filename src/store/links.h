/* Edges in the making: added in any order, written as rows both ways, in bounded memory. What waits lies in a temporary
 * file; it is sorted only where it does not come sorted; in memory are the types' names, the texts, each once, and the
 * longest row.
 */
#ifndef QP_STORE_LINKS_H
#define QP_STORE_LINKS_H

#include <stdbool.h>

#include "base/str.h"
#include "graph/csr.h"
#include "store/writer.h"

typedef struct qp_links qp_links;

/* `folder`: of the temporary files. `memory`: bytes for sorting and for rows; 0: QP_LINKS_MEMORY. */
enum { QP_LINKS_MEMORY = 512 << 20 };
qp_code qp_links_open(const char *folder, size_t memory, qp_links **, qp_err *);
void qp_links_free(qp_links *); /* takes null */
/* text: what is said of it besides; may be empty. */
qp_code qp_links_add(qp_links *, uint32_t from, uint32_t to, qp_str type, float weight, qp_str text, qp_err *);

typedef struct qp_links_how {
    uint32_t nodes;
    bool keep;                  /* qp_links_graph is asked later: 16 bytes an edge and 8 a node of memory more */
    volatile const int *cancel; /* or null */
} qp_links_how;
/* Reads info->entity and info->synonyms. Writes TYPES, EDGE_*, SAID*, OUT, IN, IN_EDGE, BOTH, BOTH_NODE, and adds to
 * STRINGS aside; edges that repeat (from, to, type) become one with the largest weight and all texts, each once, parted
 * by line breaks. QP_STOPPED: cancelled. */
qp_code qp_links_write(qp_links *, const qp_links_how *, qp_writer *, qp_info *, qp_err *);
/* Once written, until the writer is closed: the edges in their order, types by the places of their names. */
qp_str qp_links_type(const qp_links *, uint32_t type);
/* If it was kept: all edges both ways, but those that are only walked across (qp_walk). */
qp_csr qp_links_graph(const qp_links *, uint32_t nodes);
size_t qp_links_count(const qp_links *); /* before writing: those added */
void qp_links_at(const qp_links *, size_t i, uint32_t *from, uint32_t *to, uint32_t *type);

#endif
