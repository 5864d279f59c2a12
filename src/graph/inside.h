/* PPR inside the communities of the seeds: LEGO-GraphRAG's precomputation (its section on acceleration, Table 6). */
#ifndef QP_GRAPH_INSIDE_H
#define QP_GRAPH_INSIDE_H

#include "graph/leiden.h"
#include "graph/ppr.h"

/* As qp_ppr, on the graph that the nodes of the seeds' communities and the arcs among them make; nodes are named as in
 * the whole graph, arcs that leave are not there. Costs what those communities hold, whatever the size of the graph.
 * `g` is undirected, each edge in both rows, and what the partition was made of. Any engine; FORA's stored walks are of
 * the whole graph and not read. Everything lies in the arena. */
qp_code qp_ppr_inside(const qp_csr *g, const qp_partition *, const qp_ppr_query *, qp_arena *, qp_ppr_result *,
                      qp_err *);

#endif
