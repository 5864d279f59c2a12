/* The option table of `quipu bench`; it is never run. */
#ifndef QP_API_BENCH_H
#define QP_API_BENCH_H

#include "quipu_op.h"

extern const qp_op qp_benchmark_options;

#endif
