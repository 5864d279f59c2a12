/* The view of a snapshot: its indexes by name, and the table of all that it can be asked. */
#include <string.h>

#include "base/sorted.h"
#include "base/vector.h"
#include "store/mapped.h"

static qp_code no_index(const char *name, const char *wanted, qp_err *err)
{
    return qp_fail(err, QP_INPUT, "no index '%s' is there; there %s", name, wanted);
}

/* Of its relation; of itself as a triple, zeros if it is none. */
static qp_code edge_vectors(const qp_snapshot *s, bool triples, const qp_id *ids, uint32_t n, float *out, qp_err *err)
{
    for (uint32_t i = 0; i < n; i++, out += s->dim) {
        if (ids[i] >= s->edges)
            return qp_fail(err, QP_BUG, "view: edge %u of %u is asked for", ids[i], s->edges);
        uint64_t row = triples ? qp_lower_bound(s->triple_edge, 0, s->info->triples, ids[i]) : s->edge_type[ids[i]];
        if (!triples && row >= s->types)
            return qp_snapshot_damaged(s, "edge.type", "an edge's type does not exist", err);
        if (triples && (row == s->info->triples || s->triple_edge[row] != ids[i]))
            memset(out, 0, s->dim * sizeof *out);
        else
            memcpy(out, (triples ? s->triple_vector : s->type_vector) + row * s->dim, s->dim * sizeof *out);
    }
    return QP_OK;
}

static qp_code vectors(void *self, const char *index, const qp_id *ids, uint32_t n, float *out, qp_err *err)
{
    const qp_snapshot *s = self;
    bool triples = !strcmp(index, "triple.dense");
    if (!strcmp(index, "node.head") || !strcmp(index, "edge.head"))
        return qp_snapshot_heads(s, *index == 'n', ids, n, out, err);
    if (triples ? s->triple_vector != NULL : !strcmp(index, "edge.dense") && s->type_vector)
        return edge_vectors(s, triples, ids, n, out, err);
    if (strcmp(index, "node.dense") || !s->dim)
        return no_index(index, s->dim ? "is node.dense" : "are no vectors: index with an embedder", err);
    for (uint32_t i = 0; i < n; i++) {
        if (ids[i] >= s->nodes)
            return qp_snapshot_no_node(s, ids[i], err);
        if (i + 1 < n && ids[i + 1] < s->nodes)
            qp_fetch_row(s->vector + (size_t)ids[i + 1] * s->dim, s->dim);
        memcpy(out + (size_t)i * s->dim, s->vector + (size_t)ids[i] * s->dim, s->dim * sizeof *out);
    }
    return QP_OK;
}

/* Passages; where an index holds none, or `of_entities`, entities. */
static qp_range range_of(const qp_snapshot *s, bool of_entities)
{
    return s->entity && !of_entities ? (qp_range){0, s->entity} : (qp_range){s->entity, s->nodes};
}

static qp_code search_nodes(qp_snapshot *s, const char *index, bool of_entities, const qp_probe *probe, uint32_t k,
                            qp_list *out, qp_arena *a, qp_err *err)
{
    const char *kind = strchr(index, '.') + 1;
    qp_range r = range_of(s, of_entities || (!strcmp(kind, "head") && s->entity < s->nodes));
    k = k < r.to - r.from ? k : r.to - r.from;
    if (!strcmp(kind, "dense"))
        return s->dim ? qp_snapshot_dense(s, r, probe, k, out, a, err)
                      : no_index(index, "are no vectors: index with an embedder, or search node.bm25", err);
    if (!strcmp(kind, "bm25") || !strcmp(kind, "tfidf"))
        return qp_snapshot_lexical(s, &s->texts, r, probe, *kind == 't', k, out, a, err);
    if (!strcmp(kind, "doc2query"))
        return s->expanded.length
                   ? qp_snapshot_lexical(s, &s->expanded, r, probe, false, k, out, a, err)
                   : no_index(index, "are no questions of passages: index with -o doc2query=5 --writer MODEL", err);
    if (!strcmp(kind, "splade"))
        return s->learned_terms ? qp_snapshot_learned(s, r, probe, k, out, a, err)
                                : no_index(index, "are no learned terms: index with --sparse MODEL", err);
    if (!strcmp(kind, "colbert"))
        return s->token_dim ? qp_snapshot_late(s, probe, k, out, a, err)
                            : no_index(index, "are no vectors of tokens: index with -o tokens=yes", err);
    return qp_snapshot_head_search(s, r, probe, true, k, out, a, err);
}

static bool is_index_of_nodes(const char *index, bool *of_entities)
{
    static const char *const kinds[] = {"dense", "bm25", "tfidf", "doc2query", "splade", "colbert", "head"};
    const char *kind = !strncmp(index, "node.", 5) ? index + 5 : !strncmp(index, "entity.", 7) ? index + 7 : "";
    *of_entities = *index == 'e';
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kind, kinds[i]))
            return true;
    return false;
}

static qp_code search(void *self, const char *index, const qp_probe *probe, uint32_t k, qp_list *out, qp_arena *a,
                      qp_err *err)
{
    qp_snapshot *s = self;
    *out = (qp_list){0};
    bool of_entities;
    if (is_index_of_nodes(index, &of_entities))
        return search_nodes(s, index, of_entities, probe, k, out, a, err);
    k = k < s->edges ? k : s->edges;
    if (!strcmp(index, "edge.dense") || !strcmp(index, "triple.dense"))
        return qp_snapshot_dense_edges(s, probe, *index == 't', k, out, a, err);
    if (!strcmp(index, "edge.head"))
        return qp_snapshot_head_search(s, (qp_range){0, 0}, probe, false, k, out, a, err);
    return no_index(
        index,
        "are node.dense, node.bm25, node.tfidf, node.doc2query, node.splade, node.colbert, node.head, the same of "
        "entity, edge.dense, "
        "triple.dense and edge.head",
        err);
}

void qp_view_of(qp_snapshot *s)
{
    s->view = (qp_view){.self = s,
                        .nodes = s->nodes,
                        .edges = s->edges,
                        .dim = s->dim,
                        .terms = s->learned_terms,
                        .entity = s->entity,
                        .heads = s->heads,
                        .head_dim = s->head_dim,
                        .token_dim = s->token_dim,
                        .incident = qp_snapshot_incident,
                        .between = qp_snapshot_between,
                        .arcs = qp_snapshot_arcs,
                        .parts = qp_snapshot_parts,
                        .stops = qp_snapshot_stops,
                        .find = qp_snapshot_find_entities,
                        .scope = qp_snapshot_scope,
                        .search = search,
                        .adjacent = qp_snapshot_adjacent,
                        .degree = qp_snapshot_degree,
                        .text = qp_snapshot_text,
                        .vectors = vectors,
                        .about = qp_snapshot_about,
                        .link = qp_snapshot_link,
                        .types = qp_snapshot_types};
}
