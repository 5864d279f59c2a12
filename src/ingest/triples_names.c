/* Names of a graph's entities or relations: "id name" parted by a tab, under that header. */
#include "ingest/triples_reader.h"

struct names {
    qp_reading_triples *r;
    bool relations;
    qp_buf text; /* of an entity: its id, so that it is found by it, too */
};

static qp_code take_line(void *ctx, qp_str line, qp_err *err)
{
    struct names *names = ctx;
    qp_reading_triples *r = names->r;
    qp_str name, id = qp_str_trim(qp_str_split(line, '\t', &name));
    if (r->line == 1 && qp_triples_has_names(line))
        return QP_OK;
    name = qp_str_trim(name);
    if (!id.n || !name.n || memchr(name.at, '\t', name.n))
        return qp_reading_left_out(r, err, "wanted an id and a name parted by a tab");
    if (names->relations)
        return qp_reading_relation(r, (qp_entity){.id = id, .name = name}, err);
    qp_buf_clear(&names->text);
    qp_buf_text(&names->text, "id: ");
    qp_buf_str(&names->text, id);
    return names->text.oom ? qp_oom(err)
                           : qp_reading_entity(r, (qp_entity){id, name, 0, qp_buf_view(&names->text)}, err);
}

static qp_code read_names(qp_reading_triples *r, bool relations, qp_err *err)
{
    struct names names = {.r = r, .relations = relations};
    qp_code code = qp_reading_lines(r, QP_TRIPLES_LINE, take_line, &names, err);
    qp_buf_free(&names.text);
    return code;
}

qp_code qp_triples_entities(qp_reading_triples *r, qp_err *err)
{
    return read_names(r, false, err);
}

qp_code qp_triples_relations(qp_reading_triples *r, qp_err *err)
{
    return read_names(r, true, err);
}
