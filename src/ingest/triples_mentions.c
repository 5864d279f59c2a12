#include "ingest/triples_reader.h"

static qp_code take_line(void *ctx, qp_str line, qp_err *err)
{
    qp_reading_triples *r = ctx;
    qp_str document, rest = {0}, entity = qp_str_split(line, '\t', &document);

    if (document.at)
        document = qp_str_split(document, '\t', &rest);
    if (!document.at || rest.at)
        return qp_reading_left_out(r, err, "wanted an entity and the id of a document parted by a tab, found %s",
                                   rest.at ? "more fields" : "one field");
    if (r->line == 1)
        return QP_OK;
    return qp_reading_provenance(r, entity, document, err);
}

qp_code qp_triples_mentions(qp_reading_triples *r, qp_err *err)
{
    return qp_reading_lines(r, QP_TRIPLES_LINE, take_line, r, err);
}
