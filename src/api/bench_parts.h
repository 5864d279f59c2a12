/* What `quipu bench` consists of: bench_index.c generates an index, bench_kernels.c has what runs on it, bench.c times
 * that. */
#ifndef QP_API_BENCH_PARTS_H
#define QP_API_BENCH_PARTS_H

#include <yyjson.h>

#include "base/random.h"
#include "model/lesegr.h"
#include "op/ops.h"
#include "store/snapshot.h"

typedef struct bench_opt {
    int64_t passages, edges, entities, triples, words, vocabulary, dim, runs;
} bench_opt;

typedef struct bench {
    const bench_opt *o;
    const qp_watch *watch;
    char path[300];
    qp_snapshot *snapshot;
    qp_query q;
    qp_random random;
    qp_buf words; /* of one passage or question */
    float *vector;
    qp_lesegr *encoder; /* with weights that learned nothing; made when it is first wanted */
    yyjson_mut_doc *doc;
    yyjson_mut_val *rows;
} bench;

void qp_bench_words(bench *, int64_t n); /* as many, drawn, into b->words */
void qp_bench_vector(bench *);           /* drawn into b->vector, unit length */
qp_code qp_bench_generate(bench *, qp_err *);

typedef struct bench_kernel {
    const char *name;
    qp_code (*run)(bench *, qp_err *);
    bool cold, dense, triples; /* with the index's pages given back before; wants vectors; wants a graph of entities */
} bench_kernel;
extern const bench_kernel qp_bench_kernels[]; /* ends with a null name */

#endif
