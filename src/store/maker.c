#include "store/maker.h"

#include <libgen.h>
#include <stdlib.h>

#include "store/dot.h"
#include "store/limit.h"
#include "store/maker_parts.h"

/* The string's place in STRINGS; what is the same as `last` is not kept twice. */
static qp_ref keep(qp_maker *m, qp_str s, struct qp_kept *last)
{
    if (last && qp_str_eq(qp_buf_view(&last->is), s))
        return last->at;
    qp_ref ref = {qp_writer_aside(m->file, QP_S_STRINGS, s.at, s.n), s.n};
    if (last) {
        qp_buf_clear(&last->is);
        qp_buf_str(&last->is, s);
        last->at = ref;
    }
    return ref;
}

qp_code qp_maker_open(const char *path, const qp_maker_options *o, qp_maker **out, qp_err *err)
{
    *out = NULL;
    qp_maker *m = calloc(1, sizeof *m);
    if (!m)
        return qp_oom(err);
    m->options = *o;
    m->options.coded_from = o->coded_from ? o->coded_from : QP_CODED_FROM;
    m->options.ann_from = o->ann_from ? o->ann_from : QP_ANN_FROM;
    m->learned = qp_inverted_new();
    char *copy = strdup(path);
    qp_code code = m->learned && copy ? qp_lexicon_new(o->language, &m->lexicon, err) : qp_oom(err);
    if (!code && o->expander && *o->expander)
        code = qp_lexicon_new(o->language, &m->expanded, err);
    char *folder = copy ? dirname(copy) : NULL;
    code = code ? code : qp_links_open(folder, o->memory, &m->links, err);
    if (!code && o->token_dim)
        code = qp_token_maker_open(folder, o->token_dim, &m->tokens, err);
    code = code ? code : qp_writer_open(path, &m->file, err);
    free(copy);
    if (code) {
        qp_maker_drop(m);
        return code;
    }
    m->info.dim = o->dim;
    m->info.embedder = keep(m, qp_str_of(o->embedder), NULL);
    m->info.language = keep(m, qp_str_of(o->language), NULL);
    m->info.sparse = keep(m, qp_str_of(o->sparse ? o->sparse : ""), NULL);
    m->info.learned = o->terms;
    m->info.attention = keep(m, qp_str_of(o->attention ? o->attention : ""), NULL);
    m->info.expander = keep(m, qp_str_of(o->expander ? o->expander : ""), NULL);
    m->info.token_dim = o->token_dim;
    m->info.heads = o->heads;
    m->info.head_dim = o->head_dim;
    qp_writer_begin(m->file, QP_S_TEXTS);
    *out = m;
    return QP_OK;
}

uint32_t qp_maker_nodes(const qp_maker *m)
{
    return (uint32_t)m->info.nodes;
}

/* Title, heading and text apart, as their line breaks part them in the indexed text; Doc2Query's questions follow. */
static qp_code add_words(qp_maker *m, const qp_document *d, uint32_t ordinal, qp_err *err)
{
    const qp_chunk *c = &d->chunks[ordinal];
    const qp_str part[] = {d->title, c->heading, qp_str_slice(d->text, c->from, c->to),
                           d->questions ? d->questions[ordinal] : QP_STR("")};
    for (int i = 0; i < 3; i++)
        qp_lexicon_add(m->lexicon, part[i]);
    for (int i = 0; m->expanded && i < 4; i++)
        qp_lexicon_add(m->expanded, part[i]);
    qp_code code = qp_lexicon_end(m->lexicon, err);
    return code || !m->expanded ? code : qp_lexicon_end(m->expanded, err);
}

static qp_code add_node(qp_maker *m, const qp_document *d, uint32_t ordinal, qp_err *err)
{
    const qp_chunk *c = &d->chunks[ordinal];
    qp_code code = qp_limit_look(m->info.nodes, "nodes", err);
    if (code)
        return code;
    qp_node_entry e = {(uint32_t)m->info.documents, c->page, c->from, c->to, {0, 0}, {0, 0}};
    qp_buf_clear(&m->name);
    qp_buf_fmt(&m->name, "%.*s#%u", (int)d->key.n, d->key.at, ordinal);
    e.name = keep(m, qp_buf_view(&m->name), NULL);
    e.heading = keep(m, c->heading, &m->last_heading);
    qp_writer_aside(m->file, QP_S_NODES, &e, sizeof e);
    m->info.nodes++;
    return add_words(m, d, ordinal, err);
}

static bool lacks_memory(const qp_maker *m)
{
    return m->name.oom || m->last_key.is.oom || m->last_title.is.oom || m->last_heading.is.oom ||
           m->last_format.is.oom || m->last_language.is.oom;
}

qp_code qp_maker_document(qp_maker *m, const qp_document *d, qp_err *err)
{
    if (m->stage > QP_MAKER_NODES || m->entities ||
        (m->info.documents && qp_str_cmp(qp_buf_view(&m->last_key.is), d->key) >= 0))
        return qp_fail(err, QP_BUG, "snapshot: document '%.*s' comes out of order", (int)d->key.n, d->key.at);
    qp_code code = qp_limit_look(m->info.documents, "documents", err);
    if (code)
        return code;
    qp_document_entry e = {.text = {m->texts, d->text.n}, .first = qp_maker_nodes(m), .n = d->n_chunks};
    e.key = keep(m, d->key, &m->last_key);
    e.title = keep(m, d->title, &m->last_title);
    e.path = keep(m, d->path, NULL);
    e.format = keep(m, d->format, &m->last_format);
    e.language = keep(m, d->language, &m->last_language);
    e.meta = keep(m, d->meta, NULL);
    m->texts = qp_writer_add(m->file, d->text.at, d->text.n);
    qp_writer_aside(m->file, QP_S_DOCUMENTS, &e, sizeof e);
    for (uint32_t i = 0; !code && i < d->n_chunks; i++)
        code = add_node(m, d, i, err);
    m->info.documents++;
    return !code && lacks_memory(m) ? qp_oom(err) : code;
}

qp_code qp_maker_entity(qp_maker *m, qp_str scope, qp_str name, qp_str text, qp_err *err)
{
    if (m->stage > QP_MAKER_NODES)
        return qp_fail(err, QP_BUG, "snapshot: entity '%.*s' comes after edges", (int)name.n, name.at);
    qp_code code = qp_limit_look(m->info.nodes, "nodes", err);
    if (code)
        return code;
    qp_node_entry e = {
        UINT32_MAX, 0, m->texts, m->texts + text.n, keep(m, name, NULL), keep(m, scope, &m->last_heading)};
    m->texts = qp_writer_add(m->file, text.at, text.n);
    qp_writer_aside(m->file, QP_S_NODES, &e, sizeof e);
    m->info.nodes++;
    m->entities++;
    m->shared += !scope.n;
    if (!m->options.unindexed_entities) {
        qp_lexicon_add(m->lexicon, name);
        qp_lexicon_add(m->lexicon, text);
    }
    code = lacks_memory(m) ? qp_oom(err) : qp_lexicon_end(m->lexicon, err);
    return code || !m->expanded ? code : qp_lexicon_end(m->expanded, err);
}

qp_code qp_maker_edge(qp_maker *m, qp_id from, qp_id to, qp_str type, float weight, qp_str text, qp_err *err)
{
    if (m->stage == QP_MAKER_NODES)
        m->stage = QP_MAKER_EDGES;
    if (m->stage > QP_MAKER_EDGES || from >= m->info.nodes || to >= m->info.nodes)
        return qp_fail(err, QP_BUG, "snapshot: an edge %u -> %u of %llu nodes", from, to,
                       (unsigned long long)m->info.nodes);
    return qp_links_add(m->links, from, to, type, weight, text, err);
}

bool qp_maker_draws_synonyms(const qp_maker *m)
{
    return m->options.phi > 0 && m->options.phi < 1 && m->shared > 1 && m->info.nodes > m->entities;
}

static qp_code begin_vectors(qp_maker *m, qp_err *err)
{
    m->stage = QP_MAKER_VECTORS;
    m->info.coded = m->info.nodes >= m->options.coded_from;
    qp_writer_begin(m->file, QP_S_VECTORS);
    if (!m->info.coded && !qp_maker_draws_synonyms(m))
        return QP_OK;
    m->codes = malloc(m->info.nodes * m->info.dim);
    m->scales = calloc(m->info.nodes, sizeof *m->scales);
    return m->codes && m->scales ? QP_OK : qp_oom(err);
}

qp_code qp_maker_vector(qp_maker *m, const float *v, qp_err *err)
{
    static const float zeros[64];
    qp_code code = m->stage < QP_MAKER_VECTORS ? begin_vectors(m, err) : QP_OK;
    if (code)
        return code;
    uint32_t dim = (uint32_t)m->info.dim;
    if (!dim || m->vectors >= m->info.nodes)
        return qp_fail(err, QP_BUG, "snapshot: more vectors than nodes");
    if (v)
        qp_writer_add(m->file, v, dim * sizeof *v);
    for (uint32_t i = 0; !v && i < dim; i += 64)
        qp_writer_add(m->file, zeros, (dim - i < 64 ? dim - i : 64) * sizeof *zeros);
    if (m->codes && v)
        m->scales[m->vectors] = qp_quantise(v, dim, m->codes + (size_t)m->vectors * dim);
    else if (m->codes)
        memset(m->codes + (size_t)m->vectors * dim, 0, dim);
    m->vectors++;
    return QP_OK;
}

qp_code qp_maker_terms(qp_maker *m, const qp_sparse *terms, qp_err *err)
{
    if (m->weighed >= m->info.nodes)
        return qp_fail(err, QP_BUG, "snapshot: learned terms of more than its nodes");
    for (uint32_t i = 0; terms && i < terms->n; i++) {
        double impact = (double)terms->weight[i] * QP_IMPACT + .5;
        if (terms->term[i] >= m->info.learned || !(impact < UINT32_MAX))
            return qp_fail(err, QP_BUG, "snapshot: a learned term %u of weight %g", terms->term[i],
                           (double)terms->weight[i]);
        if (impact >= 1 && !qp_inverted_add(m->learned, terms->term[i], m->weighed, (uint32_t)impact))
            return qp_oom(err);
    }
    m->weighed++;
    return QP_OK;
}

qp_code qp_maker_tokens(qp_maker *m, const char *vectors, uint32_t n, qp_err *err)
{
    if (!m->tokens || qp_token_maker_passages(m->tokens) >= m->info.nodes - m->entities)
        return qp_fail(err, QP_BUG, "snapshot: tokens of more than its passages");
    return qp_token_maker_add(m->tokens, vectors, n, err);
}

/* Each head has a scale of its own: their outputs differ in size, and size is part of the vote. */
qp_code qp_maker_heads(qp_maker *m, const float *v, qp_err *err)
{
    uint32_t heads = (uint32_t)m->info.heads, dim = (uint32_t)m->info.head_dim;
    size_t n = (size_t)m->info.nodes * heads;
    m->stage = QP_MAKER_HEADS;
    if (!heads || m->headed >= m->info.nodes)
        return qp_fail(err, QP_BUG, "snapshot: attention heads of more than its nodes");
    if (!m->headed) {
        qp_writer_begin(m->file, QP_S_HEAD_CODES);
        m->head_scales = calloc(n ? n : 1, sizeof *m->head_scales);
        m->head_code = malloc((size_t)heads * dim);
    }
    if (!m->head_scales || !m->head_code)
        return qp_oom(err);
    memset(m->head_code, 0, (size_t)heads * dim);
    for (uint32_t h = 0; v && h < heads; h++)
        m->head_scales[(size_t)m->headed * heads + h] =
            qp_quantise(v + (size_t)h * dim, dim, m->head_code + (size_t)h * dim);
    qp_writer_add(m->file, m->head_code, (size_t)heads * dim);
    m->headed++;
    return QP_OK;
}
