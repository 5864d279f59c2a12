#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/array.h"
#include "ingest/source.h"
#include "ingest/weight.h"
#include "text/utf8.h"

struct given {
    qp_given *at;
    size_t n, cap;
};

static bool push(struct given *g, qp_given edge)
{
    qp_given *grown = qp_array_room(g->at, g->n, &g->cap, sizeof *grown);
    if (!grown)
        return false;
    g->at = grown;
    g->at[g->n++] = edge;
    return true;
}

static bool parse_line(qp_str line, qp_given *out)
{
    qp_str rest = line;

    out->from = qp_str_trim(qp_str_split(rest, '\t', &rest));
    out->to = rest.n ? qp_str_trim(qp_str_split(rest, '\t', &rest)) : (qp_str){0};
    out->type = rest.n ? qp_str_trim(qp_str_split(rest, '\t', &rest)) : (qp_str){0};
    if (!out->type.n)
        out->type = QP_STR("link");
    return out->from.n && out->to.n && out->type.n < 200 &&
           qp_weight_parse(rest.n ? qp_str_split(rest, '\t', &rest) : rest, &out->weight);
}

qp_code qp_source_edges(qp_job *job, const char *source, const char *path, qp_err *err)
{
    struct given given = {0};
    qp_buf file = {0};
    qp_code code = qp_file_read(path, 0, &file, err);
    qp_str rest = qp_buf_view(&file);
    uint64_t number = 0;

    if (qp_str_starts(rest, QP_STR("\xEF\xBB\xBF")))
        rest = qp_str_slice(rest, 3, rest.n);
    while (!code && rest.n) {
        qp_str line = qp_str_split(rest, '\n', &rest);
        qp_given edge = {0};
        qp_err why = {0};

        number++;
        if (!qp_str_trim(line).n ||
            (number == 1 && (qp_str_starts(line, QP_STR("src\t")) || qp_str_starts(line, QP_STR("source\t")))))
            continue;
        if (qp_utf8_valid(line) == line.n && parse_line(line, &edge)) {
            code = push(&given, edge) ? QP_OK : qp_oom(err);
        } else {
            qp_fail(&why, QP_INPUT, "%s:%llu: wanted src, dst, type and weight parted by tabs, in UTF-8, found '%.*s'",
                    path, (unsigned long long)number, (int)(line.n < 80 ? line.n : 80), line.at);
            code = qp_job_failed(job, &why, err);
        }
    }
    code = code ? code : qp_job_commit(job, err);
    code = code ? code : qp_store_given(job->store, qp_str_of(source), given.at, given.n, err);
    free(given.at);
    qp_buf_free(&file);
    return code;
}
