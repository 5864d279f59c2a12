/* A graph on its way into the truth; private to graph.c, places.c and provenance.c. */
#ifndef QP_STORE_GRAPH_PUT_H
#define QP_STORE_GRAPH_PUT_H

#include "base/sorter.h"
#include "store/graph.h"
#include "store/truth.h"

enum { QP_GRAPH_KINDS = 4 };

struct qp_graph_put {
    qp_store *store;
    int64_t row;
    qp_buf piece;
    int kind;
    int64_t number; /* of the piece under way */
    uint64_t count[QP_GRAPH_KINDS];
    bool provenance;   /* its table is there */
    qp_sorter *places; /* by text; null: there are none */
    uint64_t n_places;
};

/* The places come into their table. */
qp_code qp_places_put(qp_graph_put *, qp_err *);
/* Those of this graph go out of it. */
qp_code qp_places_leave(qp_store *, int64_t graph, qp_err *);

#endif
