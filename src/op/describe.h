/* A subgraph as text for a writer to read (GEAR, III-D), and what that or paths cost. */
#ifndef QP_OP_DESCRIBE_H
#define QP_OP_DESCRIBE_H

#include "quipu_op.h"

/* Its triples, one a line, "head -> relation -> tail", breadth first from its first node, then from the first that was
 * not reached; each edge once, nodes without an edge by their names. In the query's arena; empty after an error. */
qp_str qp_describe(qp_query *, qp_set);
/* Tokens of the writer; without one of the embedder, else of the attention's model; 0 where none counts. */
uint32_t qp_tokens(qp_query *, qp_str text);
/* The same of paths as text, one a line. */
uint32_t qp_path_tokens(qp_query *, qp_list paths);

#endif
