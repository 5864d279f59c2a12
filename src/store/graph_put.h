/* A graph on its way into the truth; private to graph.c and provenance.c. */
#ifndef QP_STORE_GRAPH_PUT_H
#define QP_STORE_GRAPH_PUT_H

#include "store/truth.h"

enum { QP_GRAPH_KINDS = 4 };

struct qp_graph_put {
    qp_store *store;
    int64_t row;
    qp_buf piece;
    int kind;
    int64_t number; /* of the piece under way */
    uint64_t count[QP_GRAPH_KINDS];
    bool provenance; /* its table is there */
};

#endif
