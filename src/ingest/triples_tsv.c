#include "ingest/lines.h"
#include "ingest/triples_reader.h"
#include "ingest/weight.h"

/* "head relation tail weight", or with another fourth column, such as where the triple is from. */
static bool is_header(qp_str line)
{
    return qp_str_starts(line, QP_STR("head\trelation\ttail"));
}

static bool has_weights(qp_str header)
{
    return qp_str_eq(header, QP_STR("head\trelation\ttail")) || qp_str_ends(header, QP_STR("\tweight"));
}

static qp_code take_line(qp_reading_triples *r, qp_str line, bool weighted, qp_err *err)
{
    qp_str field[4] = {{0}}, rest = line;
    qp_triple t;
    int n = 0;

    for (; rest.at && n < 4; n++)
        field[n] = qp_str_split(rest, '\t', &rest);
    if (n < 3 || rest.at)
        return qp_reading_left_out(
            r, err, "wanted head, relation, tail and perhaps a weight parted by tabs, found %s%d field%s",
            rest.at ? "more than " : "", n, n == 1 ? "" : "s");
    t = (qp_triple){field[0], field[1], field[2], 1, {0}};
    if (weighted && !qp_weight_parse(field[3], &t.weight))
        return qp_reading_left_out(r, err, "wanted a weight that is a number of at least 0, found '%.*s'",
                                   (int)(field[3].n < 40 ? field[3].n : 40), field[3].at);
    return qp_reading_triple(r, t, NULL, err);
}

qp_code qp_triples_tsv(qp_reading_triples *r, qp_err *err)
{
    qp_lines *lines = NULL;
    qp_str line;
    bool whole, weighted = true;
    qp_code code = qp_lines_open(r->source->path, r->source->bytes, QP_TRIPLES_LINE, &lines, err);

    while (!code) {
        code = qp_lines_next(lines, &line, &whole, err);
        if (code || !line.at)
            break;
        r->line = qp_lines_number(lines);
        if (!whole)
            code = qp_reading_left_out(r, err, "a line of more than %d MiB", QP_TRIPLES_LINE >> 20);
        else if (r->line == 1 && is_header(line))
            weighted = has_weights(qp_str_trim(line));
        else if (qp_str_trim(line).n)
            code = take_line(r, line, weighted, err);
        code = code ? code : qp_reading_look(r, err);
    }
    qp_lines_close(lines);
    return code;
}
