/* Weights of edges as files have them. Pure; any thread. */
#ifndef QP_INGEST_WEIGHT_H
#define QP_INGEST_WEIGHT_H

#include "base/str.h"

/* A finite number of at least 0; nothing is 1. False: it is none. */
bool qp_weight_parse(qp_str, float *);

#endif
