/* What comes out of a graph that was built, as lines: R name, E scope|name|text, T head relation tail weight text < documents. */
#ifndef TESTS_UNIT_GRAPH_LINES_H
#define TESTS_UNIT_GRAPH_LINES_H

#include "ingest/graph_build.h"

static inline qp_code take_relation(void *ctx, qp_str name, qp_err *err)
{
    (void)err;
    qp_buf_fmt(ctx, "R %.*s\n", (int)name.n, name.at);
    return QP_OK;
}

static inline qp_code take_entity(void *ctx, qp_str scope, qp_str name, qp_str text, qp_err *err)
{
    (void)err;
    qp_buf_fmt(ctx, "E %.*s|%.*s|%.*s\n", (int)scope.n, scope.at, (int)name.n, name.at, (int)text.n, text.at);
    return QP_OK;
}

static inline qp_code take_triple(void *ctx, uint32_t head, uint32_t relation, uint32_t tail, float weight, qp_str text,
                                  qp_err *err)
{
    (void)err;
    qp_str documents, said = qp_str_split(text, 0, &documents);
    qp_buf_fmt(ctx, "T %u %u %u %g", head, relation, tail, weight);
    if (said.n)
        qp_buf_fmt(ctx, " %.*s", (int)said.n, said.at);
    if (documents.n)
        qp_buf_fmt(ctx, " < %.*s", (int)documents.n, documents.at);
    qp_buf_char(ctx, '\n');
    return QP_OK;
}

static inline qp_build_out into(qp_buf *lines)
{
    return (qp_build_out){take_relation, take_entity, take_triple, .ctx = lines};
}

#endif
