#include <yyjson.h>

#include "ingest/triples_reader.h"

enum { LONGEST = 64 << 20 }; /* bytes of one graph */

static qp_str text_of(yyjson_val *v)
{
    return (qp_str){yyjson_get_str(v), yyjson_get_len(v)};
}

static qp_code take_triple(qp_reading_triples *r, yyjson_val *v, qp_err *err)
{
    yyjson_val *part[4];
    size_t n = yyjson_arr_size(v);

    for (size_t i = 0; i < 4; i++)
        part[i] = yyjson_arr_get(v, i);
    if (n < 3 || n > 4 || !yyjson_is_str(part[0]) || !yyjson_is_str(part[1]) || !yyjson_is_str(part[2]) ||
        (n == 4 && !yyjson_is_num(part[3])))
        return qp_reading_left_out(r, err, "wanted a triple [\"head\", \"relation\", \"tail\"] and perhaps a weight");
    float weight = n == 4 ? (float)yyjson_get_num(part[3]) : 1;
    return qp_reading_triple(r, (qp_triple){text_of(part[0]), text_of(part[1]), text_of(part[2]), weight, {0}, {0}},
                             NULL, err);
}

static qp_code take_graph(qp_reading_triples *r, yyjson_val *graph, qp_err *err)
{
    yyjson_val *id = yyjson_obj_get(graph, "_id"), *triples = yyjson_obj_get(graph, "triples"), *one;
    yyjson_arr_iter items;
    bool taken;

    if (!yyjson_is_str(id) || !yyjson_get_len(id) || !yyjson_arr_iter_init(triples, &items))
        return qp_reading_left_out(r, err, "wanted {\"_id\": question, \"triples\": [[head, relation, tail], ...]}");
    qp_code code = qp_reading_scope(r, text_of(id), &taken, err);
    while (!code && taken && (one = yyjson_arr_iter_next(&items)))
        code = take_triple(r, one, err);
    return code ? code : qp_reading_scope(r, QP_STR(""), &taken, err);
}

static qp_code take_line(void *ctx, qp_str line, qp_err *err)
{
    qp_reading_triples *r = ctx;
    yyjson_read_err why = {0};
    /* Bytes that are no UTF-8 are let through: names are repaired one by one. */
    yyjson_doc *doc =
        yyjson_read_opts((char *)(uintptr_t)line.at, line.n, YYJSON_READ_ALLOW_INVALID_UNICODE, NULL, &why);

    if (!doc && why.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        return qp_oom(err);
    if (!doc)
        return qp_reading_left_out(r, err, "no JSON at byte %zu: %s", why.pos, why.msg);
    qp_code code = take_graph(r, yyjson_doc_get_root(doc), err);
    yyjson_doc_free(doc);
    return code;
}

qp_code qp_triples_graphs(qp_reading_triples *r, qp_err *err)
{
    return qp_reading_lines(r, LONGEST, take_line, r, err);
}
