/* From the truth into a maker: what a snapshot is made of, in the maker's order. gather.c brings documents, entities
 * and edges, gather_made.c what models made of their texts. Private to publishing. */
#ifndef QP_STORE_GATHER_H
#define QP_STORE_GATHER_H

#include "base/arena.h"
#include "base/scratch.h"
#include "store/maker.h"
#include "store/store.h"
#include "store/truth.h"

struct place { /* a document's row in the truth, and its nodes in the snapshot */
    int64_t row;
    uint32_t first, n;
};

typedef struct qp_gathering {
    qp_store *store;
    qp_maker *maker;
    const qp_watch *watch;
    qp_arena *mem; /* strings of one document */
    qp_buf text, places;
    uint64_t done, total;
    double began, told;
    uint32_t dim, terms; /* of vectors; ids of learned terms are below it */
    uint32_t heads, head_dim;
    uint32_t token_dim;
    qp_str model, sparse, attention, expander, tokens; /* digests of those that made them */
    qp_scratch *entities;                              /* qp_digest of the text of each; null: there is none */
    uint32_t first_entity;
} qp_gathering;

/* Progress; QP_STOPPED where the watch says so. */
qp_code qp_gather_tell(qp_gathering *, const char *item, bool end, qp_err *);
/* The whole snapshot, at `path`, not yet synced; of a gathering only store, watch, mem and began are set. */
qp_code qp_gather_all(qp_gathering *, const char *path, qp_err *);
void qp_gathering_free(qp_gathering *);

/* Which models made something, and of what shape it is. */
qp_code qp_gather_shape(qp_gathering *, qp_arena *, qp_err *);
/* Vectors, learned terms and heads of all nodes. */
qp_code qp_gather_made(qp_gathering *, qp_err *);
/* For the maker (ctx: the gathering): what was made of a relation or a triple. */
qp_code qp_gather_made_of(void *ctx, qp_made, qp_str text, float *out, bool *found, qp_err *);

#endif
