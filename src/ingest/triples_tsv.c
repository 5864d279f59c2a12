#include "ingest/triples_reader.h"
#include "ingest/weight.h"

struct tsv {
    qp_reading_triples *r;
    bool weighted; /* a fourth column is a weight; else the document */
};

/* "head relation tail weight", or with another fourth column, which is where the triple is from. */
static bool is_header(qp_str line)
{
    return qp_str_starts(line, QP_STR("head\trelation\ttail"));
}

static bool has_weights(qp_str header)
{
    return qp_str_eq(header, QP_STR("head\trelation\ttail")) || qp_str_ends(header, QP_STR("\tweight"));
}

static qp_code take_line(void *ctx, qp_str line, qp_err *err)
{
    struct tsv *tsv = ctx;
    qp_reading_triples *r = tsv->r;
    qp_str field[4] = {{0}}, rest = line;
    qp_triple t;
    int n = 0;

    if (r->line == 1 && is_header(line)) {
        tsv->weighted = has_weights(qp_str_trim(line));
        return QP_OK;
    }
    for (; rest.at && n < 4; n++)
        field[n] = qp_str_split(rest, '\t', &rest);
    if (n < 3 || rest.at)
        return qp_reading_left_out(
            r, err, "wanted head, relation, tail and perhaps a weight parted by tabs, found %s%d field%s",
            rest.at ? "more than " : "", n, n == 1 ? "" : "s");
    t = (qp_triple){field[0], field[1], field[2], 1, {0}, tsv->weighted ? (qp_str){0} : field[3]};
    if (tsv->weighted && !qp_weight_parse(field[3], &t.weight))
        return qp_reading_left_out(r, err, "wanted a weight that is a number of at least 0, found '%.*s'",
                                   (int)(field[3].n < 40 ? field[3].n : 40), field[3].at);
    return qp_reading_triple(r, t, NULL, err);
}

qp_code qp_triples_tsv(qp_reading_triples *r, qp_err *err)
{
    struct tsv tsv = {r, true};
    return qp_reading_lines(r, QP_TRIPLES_LINE, take_line, &tsv, err);
}
