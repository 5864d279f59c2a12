/* HippoRAG's extractions: {"docs": [{"idx", "passage", "extracted_triples": [[head, relation, tail], ...]}, ...]}. */
#include "ingest/peer.h"
#include "ingest/triples_reader.h"

static qp_str text_of(yyjson_val *v)
{
    return (qp_str){yyjson_get_str(v), yyjson_get_len(v)};
}

/* What is no triple of three strings is left out, as HippoRAG leaves it out. */
static qp_code take_triple(qp_reading_triples *r, qp_str document, yyjson_val *v, qp_err *err)
{
    yyjson_val *part[3];
    bool taken = false;

    for (size_t i = 0; i < 3; i++)
        part[i] = yyjson_arr_get(v, i);
    if (yyjson_arr_size(v) != 3 || !yyjson_is_str(part[0]) || !yyjson_is_str(part[1]) || !yyjson_is_str(part[2]))
        return qp_reading_left_out(r, err, "wanted a triple [\"head\", \"relation\", \"tail\"]");
    qp_triple t = {text_of(part[0]), text_of(part[1]), text_of(part[2]), 1, {0}, document};
    qp_code code = qp_reading_triple(r, t, &taken, err);
    if (code || !taken || !document.n)
        return code;
    code = qp_reading_provenance(r, t.head, document, err);
    return code ? code : qp_reading_provenance(r, t.tail, document, err);
}

qp_code qp_triples_hipporag(qp_reading_triples *r, qp_err *err)
{
    yyjson_doc *file = NULL;
    yyjson_arr_iter docs, triples;
    qp_code code = qp_peer_json(r->source->path, r->source->bytes, &file, err);

    if (!code && yyjson_arr_iter_init(yyjson_obj_get(yyjson_doc_get_root(file), "docs"), &docs))
        for (yyjson_val *doc, *triple; !code && (doc = yyjson_arr_iter_next(&docs));) {
            qp_str document = text_of(yyjson_obj_get(doc, "idx"));
            r->line++;
            if (!yyjson_arr_iter_init(yyjson_obj_get(doc, "extracted_triples"), &triples))
                continue;
            while (!code && (triple = yyjson_arr_iter_next(&triples)))
                code = take_triple(r, document, triple, err);
            code = code ? code : qp_reading_look(r, err);
        }
    yyjson_doc_free(file);
    return code;
}
