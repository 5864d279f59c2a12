/* Is a snapshot whole? Checksums find what was damaged; the rest finds what was made wrong, or forged. */
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "store/mapped.h"
#include "store/dot.h"

static qp_code damaged(const qp_snapshot *s, qp_section section, const char *what, qp_err *err)
{
    return qp_snapshot_damaged(s, qp_section_name(section), what, err);
}

qp_code qp_snapshot_sums(const qp_snapshot *s, qp_err *err)
{
    uint64_t covered = sizeof(qp_head) + QP_SECTIONS * sizeof(qp_toc_entry);
    for (int i = 0; i < QP_SECTIONS; i++) {
        const qp_toc_entry *e = &s->toc[i];
        if (qp_hash64((qp_str){(const char *)s->map.at + e->at, e->bytes}) != e->checksum)
            return damaged(s, (qp_section)i, "its checksum is wrong", err);
    }
    /* Between sections there are zeros: in order of place, each gap is read. */
    for (uint64_t end; covered < s->map.n; covered = end) {
        end = s->map.n;
        uint64_t next = s->map.n;
        for (int i = 0; i < QP_SECTIONS; i++) {
            const qp_toc_entry *e = &s->toc[i];
            if (e->bytes && e->at >= covered && e->at <= next) {
                next = e->at;
                end = e->at + e->bytes;
            }
        }
        for (; covered < next; covered++)
            if (s->map.at[covered])
                return qp_snapshot_damaged(s, "padding", "it holds something", err);
        if (end <= covered)
            break;
    }
    return QP_OK;
}

static bool strings_lie_inside(const qp_snapshot *s, const qp_ref *ref, int n)
{
    qp_str ignored;
    for (int i = 0; i < n; i++)
        if (!qp_snapshot_ref(s, QP_S_STRINGS, ref[i], &ignored))
            return false;
    return true;
}

static qp_code check_documents(const qp_snapshot *s, qp_err *err)
{
    uint32_t next = 0;
    qp_str last = {0}, ignored;
    for (uint32_t d = 0; d < s->documents; d++) {
        const qp_document_entry *e = &s->document[d];
        const qp_ref refs[] = {e->key, e->title, e->path, e->format, e->language, e->meta};
        qp_str key = qp_snapshot_document_key(s, d);
        if (!strings_lie_inside(s, refs, 6) || !qp_snapshot_ref(s, QP_S_TEXTS, e->text, &ignored))
            return damaged(s, QP_S_DOCUMENTS, "a string lies outside", err);
        if (e->first != next || e->n > s->nodes - next || (d && qp_str_cmp(last, key) >= 0))
            return damaged(s, QP_S_DOCUMENTS, "they are not in order", err);
        for (uint32_t v = e->first; v < e->first + e->n; v++) {
            const qp_node_entry *n = &s->node[v];
            const qp_ref own[] = {n->name, n->heading};
            if (n->document != d || n->from > n->to || n->to > e->text.n || !strings_lie_inside(s, own, 2))
                return damaged(s, QP_S_NODES, "a node is not of its document", err);
        }
        next += e->n;
        last = key;
    }
    return next == s->entity ? QP_OK : damaged(s, QP_S_NODES, "some are of no document", err);
}

/* By scope, then name, each once; a scope is kept where a chunk has its heading. */
static qp_code check_entities(const qp_snapshot *s, qp_err *err)
{
    for (uint32_t v = s->entity; v < s->nodes; v++) {
        const qp_node_entry *n = &s->node[v], *before = v > s->entity ? n - 1 : NULL;
        const qp_ref own[] = {n->name, n->heading};
        if (n->document != UINT32_MAX || n->from > n->to || n->to > s->toc[QP_S_TEXTS].bytes || !n->name.n ||
            !strings_lie_inside(s, own, 2))
            return damaged(s, QP_S_NODES, "an entity's name or text lies outside", err);
        int scope = before ? qp_str_cmp(qp_snapshot_string(s, before->heading), qp_snapshot_string(s, n->heading)) : -1;
        if (scope > 0 ||
            (!scope && qp_str_cmp(qp_snapshot_string(s, before->name), qp_snapshot_string(s, n->name)) >= 0))
            return damaged(s, QP_S_NODES, "entities are not in order", err);
    }
    return QP_OK;
}

static qp_code check_edges(const qp_snapshot *s, qp_err *err)
{
    uint64_t crossing = 0;
    if (!strings_lie_inside(s, s->type, (int)s->types))
        return damaged(s, QP_S_TYPES, "a name lies outside", err);
    for (uint32_t e = 0; e < s->edges; e++) {
        if (s->edge_from[e] >= s->nodes || s->edge_to[e] >= s->nodes || s->edge_type[e] >= s->types)
            return damaged(s, QP_S_EDGE_TO, "an edge's end or type does not exist", err);
        if (!(s->edge_weight[e] >= 0) || isinf(s->edge_weight[e]))
            return damaged(s, QP_S_EDGE_WEIGHT, "a weight is below 0 or no number", err);
        bool rises = !e || s->edge_from[e - 1] < s->edge_from[e] ||
                     (s->edge_from[e - 1] == s->edge_from[e] &&
                      (s->edge_to[e - 1] < s->edge_to[e] ||
                       (s->edge_to[e - 1] == s->edge_to[e] && s->edge_type[e - 1] < s->edge_type[e])));
        if (!rises)
            return damaged(s, QP_S_EDGE_FROM, "edges are not in order", err);
        crossing += qp_snapshot_crosses(s, e);
    }
    return crossing == s->info->crossing ? QP_OK
                                         : damaged(s, QP_S_EDGE_FROM, "edges that few walks take are miscounted", err);
}

/* Rows start at 0, rise, end at the number of edges, and hold the edges of their node alone. As each edge has one place
 * in each direction, together they hold them all. */
static qp_code check_rows(const qp_snapshot *s, qp_err *err)
{
    if (s->out[0] || s->in[0] || s->out[s->nodes] != s->edges || s->in[s->nodes] != s->edges)
        return damaged(s, QP_S_OUT, "rows do not cover the edges", err);
    for (uint32_t v = 0; v < s->nodes; v++) {
        if (s->out[v] > s->out[v + 1] || s->in[v] > s->in[v + 1] || s->out[v + 1] > s->edges || s->in[v + 1] > s->edges)
            return damaged(s, QP_S_OUT, "rows do not rise", err);
        for (uint64_t i = s->out[v]; i < s->out[v + 1]; i++)
            if (s->edge_from[i] != v)
                return damaged(s, QP_S_OUT, "a row holds another node's edge", err);
        for (uint64_t i = s->in[v]; i < s->in[v + 1]; i++)
            if (s->in_edge[i] >= s->edges || s->edge_to[s->in_edge[i]] != v ||
                (i > s->in[v] && s->in_edge[i - 1] >= s->in_edge[i]))
                return damaged(s, QP_S_IN_EDGE, "a row holds another node's edge, or is not in order", err);
    }
    qp_arena *a = qp_arena_new();
    qp_code code = a ? QP_OK : qp_oom(err);
    for (uint32_t v = 0; !code && v < s->nodes; v++) { /* the neighbours kept are those that the edges make */
        qp_adj adj;
        code = s->view.adjacent((void *)(uintptr_t)s, &v, 1, (qp_walk){UINT64_MAX, QP_BOTH, true}, &adj, a, err);
        uint64_t row = s->both[v], n = s->both[v + 1] - row;
        if (!code && (row > s->info->arcs || n > s->info->arcs - row || adj.start[1] != n ||
                      memcmp(adj.node, s->both_node + row, n * sizeof *adj.node)))
            code = damaged(s, QP_S_BOTH, "a row is not the neighbours of its node", err);
        qp_arena_reset(a);
    }
    qp_arena_free(a);
    return code;
}

static bool edges_rise(const qp_snapshot *s, const uint32_t *edge, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (edge[i] >= s->edges || (i && edge[i - 1] >= edge[i]))
            return false;
    return true;
}

static qp_code check_said(const qp_snapshot *s, qp_err *err)
{
    if (!edges_rise(s, s->triple_edge, s->info->triples))
        return damaged(s, QP_S_TRIPLE_EDGE, "edges are not in order", err);
    if (!edges_rise(s, s->said_edge, s->info->said))
        return damaged(s, QP_S_SAID_EDGE, "edges are not in order", err);
    return strings_lie_inside(s, s->said, (int)s->info->said) ? QP_OK
                                                              : damaged(s, QP_S_SAID, "a text lies outside", err);
}

static qp_code check_computed(const qp_snapshot *s, qp_err *err)
{
    qp_parts parts;
    qp_stops stops;
    qp_code code = qp_snapshot_parts((void *)(uintptr_t)s, &parts, err);
    return code ? code : qp_snapshot_stops((void *)(uintptr_t)s, &stops, err);
}

/* Rows of dim numbers and, unless null, their codes. */
static qp_code check_coded(const qp_snapshot *s, qp_section section, const float *x, const int8_t *codes,
                           const float *scale, uint64_t n, qp_err *err)
{
    int8_t *code = malloc(s->dim ? s->dim : 1);
    if (!code)
        return qp_oom(err);
    const char *wrong = NULL;
    for (uint64_t v = 0; s->dim && !wrong && v < n; v++, x += s->dim) {
        for (uint32_t i = 0; i < s->dim; i++)
            wrong = isfinite(x[i]) ? wrong : "a vector holds what is no number";
        if (codes && !wrong && (qp_quantise(x, s->dim, code) != scale[v] || memcmp(code, codes + v * s->dim, s->dim)))
            wrong = "codes are not those of the vectors";
    }
    free(code);
    return wrong ? damaged(s, section, wrong, err) : QP_OK;
}

static qp_code check_vectors(const qp_snapshot *s, qp_err *err)
{
    qp_code code = check_coded(s, QP_S_VECTORS, s->vector, s->info->coded ? s->code : NULL, s->scale, s->nodes, err);
    return code ? code
                : check_coded(s, QP_S_TRIPLE_VECTORS, s->triple_vector, s->triple_code, s->triple_scale,
                              s->info->triples, err);
}

/* Passages link to passages, entities to entities. */
static bool links_to(const qp_snapshot *s, uint32_t v, uint32_t to)
{
    return to < s->nodes && (v < s->entity) == (to < s->entity);
}

static qp_code check_ann(const qp_snapshot *s, qp_err *err)
{
    uint64_t m = s->info->ann_m, row = 0;
    for (int part = 0; part < 2; part++) {
        uint64_t entry = s->info->ann_entry[part];
        if (m && entry != UINT32_MAX && (entry >= s->nodes || (entry < s->entity) == part))
            return damaged(s, QP_S_ANN_BASE, "a search starts nowhere", err);
    }
    for (uint32_t v = 0; m && v < s->nodes; v++) {
        const uint32_t *base = s->ann_base + v * (1 + 2 * m);
        uint64_t level = s->ann_level[v], rows = s->info->ann_rows; /* foreign numbers: no sum of them is formed */
        bool fits = base[0] <= 2 * m && (!level || (level <= rows && s->ann_upper[v] <= rows - level));
        for (uint64_t i = 0; fits && i < base[0]; i++)
            fits = links_to(s, v, base[1 + i]);
        for (uint64_t i = 0; fits && i < s->ann_level[v]; i++) {
            const uint32_t *links = s->ann_links + (s->ann_upper[v] + i) * (1 + m);
            fits = links[0] <= m;
            for (uint64_t j = 0; fits && j < links[0]; j++)
                fits = links_to(s, v, links[1 + j]);
        }
        if (!fits)
            return damaged(s, QP_S_ANN_BASE, "a link leads nowhere", err);
        row += s->ann_level[v];
    }
    return row == s->info->ann_rows ? QP_OK
                                    : damaged(s, QP_S_ANN_LINKS, "there are more rows than nodes have layers", err);
}

/* A term's blocks, with the lengths of the nodes (null: those of a learned term, which has none), and its tfs added to
 * `words` of each node (null: nowhere), and those below `entity` are counted. Null if all is well, else what is
 * wrong. */
static const char *check_term(const qp_postings *p, uint64_t first, uint32_t df, const uint32_t *length,
                              uint32_t *words, uint32_t entity, uint32_t *passages)
{
    uint32_t n_blocks, count = 0, before = UINT32_MAX, node[QP_BLOCK], tf[QP_BLOCK];
    const qp_block_entry *b = qp_postings_blocks(p, first, df, &n_blocks);
    if (!b)
        return "a term's blocks lie outside";
    for (uint32_t i = 0; i < n_blocks; before = b[i++].last) {
        if ((i && b[i].last <= before) || !qp_block_nodes(p, &b[i], before, node) || !qp_block_tfs(p, &b[i], tf))
            return "a block cannot be read";
        uint32_t most = 0, shortest = length ? UINT32_MAX : 0;
        for (uint32_t j = 0; j <= b[i].n; j++) {
            if (words)
                words[node[j]] += tf[j];
            *passages += node[j] < entity;
            most = tf[j] > most ? tf[j] : most;
            if (length)
                shortest = length[node[j]] < shortest ? length[node[j]] : shortest;
        }
        if (most != b[i].most || shortest != b[i].shortest)
            return "a block's bounds are not those of its postings";
        count += b[i].n + 1u;
    }
    return count == df ? NULL : "a term has more or fewer nodes than it says";
}

static qp_code check_lexical(const qp_snapshot *s, const qp_lexical *l, qp_section section, qp_err *err)
{
    uint32_t *words = calloc(s->nodes ? s->nodes : 1, sizeof *words);
    if (!words)
        return qp_oom(err);
    qp_str last = {0};
    uint64_t blocks = 0, total = 0, passage_words = 0;
    const char *wrong = NULL;
    for (uint32_t i = 0; !wrong && i < l->terms; i++) {
        qp_str name;
        uint32_t passages = 0;
        if (!qp_snapshot_ref(s, QP_S_STRINGS, l->term[i].name, &name) || (i && qp_str_cmp(last, name) >= 0))
            wrong = "terms are not in order";
        else if (l->term[i].block != blocks)
            wrong = "blocks are not in order";
        else
            wrong = check_term(&l->of, blocks, l->term[i].df, l->length, words, s->entity, &passages);
        if (!wrong && passages != l->term[i].passages)
            wrong = "a term has more or fewer passages than it says";
        last = name;
        blocks += ((uint64_t)l->term[i].df + QP_BLOCK - 1) / QP_BLOCK;
    }
    for (uint32_t v = 0; !wrong && v < s->nodes; v++) {
        wrong = words[v] == l->length[v] ? NULL : "a node's length is not the number of its terms";
        total += words[v];
        passage_words += v < s->entity ? words[v] : 0;
    }
    if (!wrong && (total != l->sums->words || passage_words != l->sums->passage_words || blocks != l->sums->blocks))
        wrong = "the totals are not those of the postings";
    free(words);
    return wrong ? damaged(s, section, wrong, err) : QP_OK;
}

static qp_code check_postings(const qp_snapshot *s, qp_err *err)
{
    qp_code code = check_lexical(s, &s->texts, QP_S_POSTINGS, err);
    return code || !s->expanded.length ? code : check_lexical(s, &s->expanded, QP_S_EXPANDED_POSTINGS, err);
}

static qp_code check_learned(const qp_snapshot *s, qp_err *err)
{
    uint64_t blocks = 0;
    const char *wrong = NULL;
    for (uint32_t i = 0; !wrong && i < s->learned_terms; i++) {
        const qp_learned_entry *e = &s->learned[i];
        if (e->block != blocks)
            wrong = "blocks are not in order";
        else if (e->df)
            wrong = check_term(&s->learned_of, e->block, e->df, NULL, NULL, 0, &(uint32_t){0});
        blocks += ((uint64_t)e->df + QP_BLOCK - 1) / QP_BLOCK;
    }
    if (!wrong && blocks != s->info->learned_blocks)
        wrong = "there are more blocks than terms have";
    return wrong ? damaged(s, QP_S_LEARNED, wrong, err) : QP_OK;
}

static qp_code check_lists(const qp_snapshot *s, qp_err *err)
{
    uint64_t blocks = 0;
    const char *wrong = NULL;
    uint32_t *tokens = calloc(s->entity + 1u, sizeof *tokens);
    if (!tokens)
        return qp_oom(err);
    for (uint32_t c = 0; !wrong && c < s->centroids; c++) {
        const qp_learned_entry *e = &s->centroid_list[c];
        if (e->block != blocks)
            wrong = "blocks are not in order";
        else if (e->df)
            wrong = check_term(&s->centroid_of, e->block, e->df, NULL, tokens, 0, &(uint32_t){0});
        blocks += ((uint64_t)e->df + QP_BLOCK - 1) / QP_BLOCK;
    }
    for (uint32_t v = 0; !wrong && v < s->entity; v++)
        wrong = tokens[v] == s->token_start[v + 1] - s->token_start[v] ? NULL : "a passage is listed with other tokens";
    if (!wrong && blocks != s->info->centroid_blocks)
        wrong = "there are more blocks than centroids have";
    free(tokens);
    return wrong ? damaged(s, QP_S_CENTROID_LISTS, wrong, err) : QP_OK;
}

static qp_code check_tokens(const qp_snapshot *s, qp_err *err)
{
    if (!s->token_dim)
        return QP_OK;
    if (s->token_start[0] || s->token_start[s->entity] != s->info->tokens)
        return damaged(s, QP_S_TOKEN_START, "they do not cover the tokens", err);
    for (uint32_t v = 0; v < s->entity; v++)
        if (s->token_start[v] > s->token_start[v + 1])
            return damaged(s, QP_S_TOKEN_START, "they do not rise", err);
    for (uint64_t t = 0; t < s->info->tokens; t++)
        if (s->token_centroid[t] >= s->centroids)
            return damaged(s, QP_S_TOKEN_CENTROID, "a centroid does not exist", err);
    for (size_t i = 0; i < (size_t)s->centroids * s->token_dim; i++)
        if (!isfinite(s->centroid[i]))
            return damaged(s, QP_S_CENTROIDS, "one holds what is no number", err);
    return check_lists(s, err);
}

qp_code qp_snapshot_check(const qp_snapshot *s, qp_err *err)
{
    static qp_code (*const checks[])(const qp_snapshot *,
                                     qp_err *) = {qp_snapshot_sums, check_documents, check_entities, check_edges,
                                                  check_rows,       check_said,      check_computed, check_vectors,
                                                  check_ann,        check_postings,  check_learned,  check_tokens};
    qp_code code = QP_OK;
    for (size_t i = 0; !code && i < sizeof checks / sizeof *checks; i++)
        code = checks[i](s, err);
    return code || !qp_snapshot_is_lost(s)
               ? code
               : qp_fail(err, QP_STORE, "%s: a part of it went away while it was read", s->path);
}
