#include "store/maker.h"

#include <libgen.h>
#include <stdlib.h>

#include "base/str.h"
#include "base/thread.h"
#include "store/ann.h"
#include "store/dot.h"
#include "store/inverted.h"
#include "store/lexicon.h"
#include "store/links.h"
#include "store/precompute.h"
#include "store/store.h"
#include "store/synonyms.h"
#include "store/tokens.h"

struct kept { /* a string that was put last, and where */
    qp_buf is;
    qp_ref at;
};

struct qp_maker {
    qp_maker_options options;
    qp_writer *file;
    qp_lexicon *lexicon, *expanded; /* expanded: null where nothing is */
    qp_links *links;
    qp_info info;
    qp_buf name;    /* of the node at hand */
    uint64_t texts; /* bytes so far */
    struct kept last_key, last_title, last_heading, last_format, last_language;
    int stage; /* 0 documents, 1 edges, 2 vectors */
    uint32_t vectors;
    int8_t *codes; /* nodes x dim, when they are kept */
    float *scales;
    uint32_t headed; /* nodes whose heads were given */
    float *head_scales;
    int8_t *head_code; /* of one node */
    qp_inverted *learned;
    qp_token_maker *tokens;    /* null without */
    uint32_t weighed;          /* nodes whose terms were given */
    uint32_t entities, shared; /* those of the scope "" */
};

/* The string's place in STRINGS; what is the same as `last` is not kept twice. */
static qp_ref keep(qp_maker *m, qp_str s, struct kept *last)
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
    if (m->stage || m->entities || (m->info.documents && qp_str_cmp(qp_buf_view(&m->last_key.is), d->key) >= 0))
        return qp_fail(err, QP_BUG, "snapshot: document '%.*s' comes out of order", (int)d->key.n, d->key.at);
    qp_document_entry e = {.text = {m->texts, d->text.n}, .first = qp_maker_nodes(m), .n = d->n_chunks};
    e.key = keep(m, d->key, &m->last_key);
    e.title = keep(m, d->title, &m->last_title);
    e.path = keep(m, d->path, NULL);
    e.format = keep(m, d->format, &m->last_format);
    e.language = keep(m, d->language, &m->last_language);
    e.meta = keep(m, d->meta, NULL);
    m->texts = qp_writer_add(m->file, d->text.at, d->text.n);
    qp_writer_aside(m->file, QP_S_DOCUMENTS, &e, sizeof e);
    qp_code code = QP_OK;
    for (uint32_t i = 0; !code && i < d->n_chunks; i++)
        code = add_node(m, d, i, err);
    m->info.documents++;
    return !code && lacks_memory(m) ? qp_oom(err) : code;
}

qp_code qp_maker_entity(qp_maker *m, qp_str scope, qp_str name, qp_str text, qp_err *err)
{
    if (m->stage || m->info.nodes >= UINT32_MAX - 1)
        return qp_fail(err, m->stage ? QP_BUG : QP_INPUT, "snapshot: entity '%.*s' %s", (int)name.n, name.at,
                       m->stage ? "comes after edges" : "is one too many: an index holds 4,294,967,294 nodes");
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
    qp_code code = lacks_memory(m) ? qp_oom(err) : qp_lexicon_end(m->lexicon, err);
    return code || !m->expanded ? code : qp_lexicon_end(m->expanded, err);
}

qp_code qp_maker_edge(qp_maker *m, qp_id from, qp_id to, qp_str type, float weight, qp_str text, qp_err *err)
{
    m->stage = m->stage < 1 ? 1 : m->stage;
    if (m->stage > 1 || from >= m->info.nodes || to >= m->info.nodes)
        return qp_fail(err, QP_BUG, "snapshot: an edge %u -> %u of %llu nodes", from, to,
                       (unsigned long long)m->info.nodes);
    return qp_links_add(m->links, from, to, type, weight, text, err);
}

/* Where texts mention entities; a knowledge graph by itself stays as it was given. */
static bool draws_synonyms(const qp_maker *m)
{
    return m->options.phi > 0 && m->options.phi < 1 && m->shared > 1 && m->info.nodes > m->entities;
}

static qp_code begin_vectors(qp_maker *m, qp_err *err)
{
    m->stage = 2;
    m->info.coded = m->info.nodes >= m->options.coded_from;
    qp_writer_begin(m->file, QP_S_VECTORS);
    if (!m->info.coded && !draws_synonyms(m))
        return QP_OK;
    m->codes = malloc(m->info.nodes * m->info.dim);
    m->scales = calloc(m->info.nodes, sizeof *m->scales);
    return m->codes && m->scales ? QP_OK : qp_oom(err);
}

qp_code qp_maker_vector(qp_maker *m, const float *v, qp_err *err)
{
    static const float zeros[64];
    qp_code code = m->stage < 2 ? begin_vectors(m, err) : QP_OK;
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
    m->stage = 3;
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

/* ---- what was made of relations and triples ---- */

/* Appended to what is there. */
static qp_code add_name(const qp_maker *m, uint32_t node, qp_buf *out, qp_err *err)
{
    qp_node_entry e;
    qp_code code = qp_writer_recall(m->file, QP_S_NODES, (uint64_t)node * sizeof e, &e, sizeof e, err);
    char *room = code ? NULL : qp_buf_room(out, e.name.n);
    if (!room)
        return code ? code : qp_oom(err);
    out->n += e.name.n;
    return qp_writer_recall(m->file, QP_S_STRINGS, e.name.at, room, e.name.n, err);
}

static qp_code write_made(qp_maker *m, qp_made what, qp_str text, float *out, uint32_t width, qp_err *err)
{
    bool found = false;
    qp_code code = m->options.made ? m->options.made(m->options.ctx, what, text, out, &found, err) : QP_OK;
    if (!found)
        memset(out, 0, width * sizeof *out);
    qp_writer_add(m->file, out, width * sizeof *out);
    return code;
}

static qp_code write_types_made(qp_maker *m, qp_section section, qp_made what, uint32_t width, qp_err *err)
{
    float *out = malloc((width ? width : 1) * sizeof *out);
    qp_code code = out ? QP_OK : qp_oom(err);
    qp_writer_begin(m->file, section);
    for (uint32_t t = 0; !code && t < m->info.types; t++)
        code = write_made(m, what, qp_links_type(m->links, t), out, width, err);
    free(out);
    return code;
}

static qp_code write_triples_made(qp_maker *m, qp_err *err)
{
    uint32_t dim = (uint32_t)m->info.dim, from, to, type;
    float *out = malloc(dim * sizeof *out);
    qp_buf text = {0}, head = {0}, tail = {0};
    qp_code code = out ? QP_OK : qp_oom(err);
    qp_writer_begin(m->file, QP_S_TRIPLE_VECTORS);
    for (size_t i = 0; !code && i < qp_links_count(m->links); i++) {
        qp_links_at(m->links, i, &from, &to, &type);
        if (from < m->info.entity || to < m->info.entity) { /* no triple */
            memset(out, 0, dim * sizeof *out);
            qp_writer_add(m->file, out, dim * sizeof *out);
            continue;
        }
        qp_buf_clear(&text);
        qp_buf_clear(&head);
        qp_buf_clear(&tail);
        code = add_name(m, from, &head, err);
        code = code ? code : add_name(m, to, &tail, err);
        if (!code)
            qp_triple_text(&text, qp_buf_view(&head), qp_links_type(m->links, type), qp_buf_view(&tail));
        code = code || !text.oom ? code : qp_oom(err);
        code = code ? code : write_made(m, QP_MADE_VECTOR, qp_buf_view(&text), out, dim, err);
    }
    qp_buf_free(&text);
    qp_buf_free(&head);
    qp_buf_free(&tail);
    free(out);
    return code;
}

/* Relations have vectors where there are entities: the edges between documents need none. */
static qp_code write_all_made(qp_maker *m, qp_err *err)
{
    qp_info *i = &m->info;
    if (i->heads && m->headed < i->nodes)
        return qp_fail(err, QP_BUG, "snapshot: attention heads of %u of %u nodes", m->headed, qp_maker_nodes(m));
    i->type_vectors = i->dim && m->entities;
    i->triple_vectors = i->type_vectors && m->options.triples;
    qp_writer_put(m->file, QP_S_HEAD_SCALES, m->head_scales, i->nodes * i->heads * sizeof *m->head_scales);
    qp_code code = QP_OK;
    if (i->type_vectors)
        code = write_types_made(m, QP_S_TYPE_VECTORS, QP_MADE_VECTOR, (uint32_t)i->dim, err);
    if (!code && i->triple_vectors)
        code = write_triples_made(m, err);
    if (!code && i->heads)
        code = write_types_made(m, QP_S_TYPE_HEADS, QP_MADE_HEADS, (uint32_t)(i->heads * i->head_dim), err);
    return code;
}

static qp_code write_learned(qp_maker *m, qp_err *err)
{
    qp_buf entries = {0}, blocks = {0};
    qp_writer_begin(m->file, QP_S_LEARNED_POSTINGS);
    for (uint32_t t = 0; t < m->info.learned; t++) {
        qp_learned_entry e = {blocks.n / sizeof(qp_block_entry), qp_inverted_df(m->learned, t), 0};
        qp_buf_add(&entries, &e, sizeof e);
        qp_inverted_write(m->learned, t, NULL, m->file, &blocks);
    }
    qp_writer_put(m->file, QP_S_LEARNED, entries.at, entries.n);
    qp_writer_put(m->file, QP_S_LEARNED_BLOCKS, blocks.at, blocks.n);
    m->info.learned_blocks = blocks.n / sizeof(qp_block_entry);
    bool oom = entries.oom || blocks.oom;
    qp_buf_free(&entries);
    qp_buf_free(&blocks);
    return oom ? qp_oom(err) : QP_OK;
}

static qp_code write_tokens(qp_maker *m, qp_err *err)
{
    if (!m->tokens)
        return QP_OK;
    if (qp_token_maker_passages(m->tokens) < m->info.entity)
        return qp_fail(err, QP_BUG, "snapshot: tokens of %u of its passages", qp_token_maker_passages(m->tokens));
    return qp_token_maker_write(m->tokens, m->options.cancel, m->file, &m->info, err);
}

static qp_code write_ann(qp_maker *m, qp_err *err)
{
    qp_ann ann;
    size_t n = m->info.nodes;
    qp_code code = qp_ann_build(m->codes, m->scales, (uint32_t)m->info.entity, (uint32_t)n, m->options.ann_from,
                                (uint32_t)m->info.dim, m->options.cancel, &ann, err);
    if (code)
        return code;
    m->info.ann_m = ann.m;
    m->info.ann_entry[0] = ann.entry[0];
    m->info.ann_entry[1] = ann.entry[1];
    m->info.ann_rows = ann.rows;
    qp_writer_put(m->file, QP_S_ANN_LEVEL, ann.level, n * sizeof *ann.level);
    qp_writer_put(m->file, QP_S_ANN_UPPER, ann.upper, n * sizeof *ann.upper);
    qp_writer_put(m->file, QP_S_ANN_BASE, ann.base, n * (1 + 2 * ann.m) * sizeof *ann.base);
    qp_writer_put(m->file, QP_S_ANN_LINKS, ann.links, ann.rows * (1 + ann.m) * sizeof *ann.links);
    qp_ann_free(&ann);
    return QP_OK;
}

static qp_code write_codes(qp_maker *m, qp_err *err)
{
    if (!m->info.dim || !m->info.nodes)
        return QP_OK;
    if (m->vectors < m->info.nodes)
        return qp_fail(err, QP_BUG, "snapshot: %u vectors for %u nodes", m->vectors, qp_maker_nodes(m));
    if (!m->info.coded)
        return QP_OK;
    qp_writer_put(m->file, QP_S_CODES, m->codes, m->info.nodes * m->info.dim);
    qp_writer_put(m->file, QP_S_SCALES, m->scales, m->info.nodes * sizeof *m->scales);
    bool large = m->info.entity >= m->options.ann_from || m->entities >= m->options.ann_from;
    return large ? write_ann(m, err) : QP_OK;
}

static qp_code join_synonyms(qp_maker *m, qp_err *err)
{
    uint32_t first = (uint32_t)m->info.entity;
    const qp_likeness alike = {.codes = m->codes,
                               .scales = m->scales,
                               .dim = (uint32_t)m->info.dim,
                               .from = first,
                               .to = first + m->shared, /* the scope "" comes first */
                               .phi = m->options.phi,
                               .pairs_to = m->options.pairs_to ? m->options.pairs_to : QP_SYNONYM_PAIRS,
                               .cancel = m->options.cancel};
    return m->codes && draws_synonyms(m) ? qp_synonyms(&alike, m->links, &m->info.synonyms, err) : QP_OK;
}

static void release(qp_maker *m)
{
    qp_lexicon_free(m->lexicon);
    qp_lexicon_free(m->expanded);
    qp_links_free(m->links);
    qp_inverted_free(m->learned);
    qp_token_maker_free(m->tokens);
    qp_buf_free(&m->name);
    qp_buf_free(&m->last_key.is);
    qp_buf_free(&m->last_title.is);
    qp_buf_free(&m->last_heading.is);
    qp_buf_free(&m->last_format.is);
    qp_buf_free(&m->last_language.is);
    free(m->codes);
    free(m->scales);
    free(m->head_scales);
    free(m->head_code);
    free(m);
}

/* The edges, and what is computed of them. */
static qp_code write_graph(qp_maker *m, qp_err *err)
{
    const qp_maker_options *o = &m->options;
    const qp_links_how how = {qp_maker_nodes(m), o->partition || o->walks, o->cancel};
    qp_code code = qp_links_write(m->links, &how, m->file, &m->info, err);
    if (code || !how.keep || !how.nodes)
        return code;
    qp_csr graph = qp_links_graph(m->links, how.nodes);
    return qp_precompute(&graph, o->partition, o->walks, o->cancel, m->file, &m->info, err);
}

qp_code qp_maker_finish(qp_maker *m, qp_err *err)
{
    m->info.entity = m->info.nodes - m->entities;
    qp_code code = write_codes(m, err);
    if (!code)
        code = join_synonyms(m, err);
    if (!code)
        code = write_graph(m, err);
    if (!code && qp_cancelled(m->options.cancel))
        code = qp_fail(err, QP_STOPPED, "stopped before the index was published; run it again to go on");
    if (!code)
        code = qp_lexicon_write(m->lexicon, &qp_lexical_texts, m->info.entity, m->file, &m->info.texts, err);
    if (!code && m->expanded)
        code = qp_lexicon_write(m->expanded, &qp_lexical_expanded, m->info.entity, m->file, &m->info.expanded, err);
    if (!code)
        code = write_learned(m, err);
    if (!code)
        code = write_tokens(m, err);
    if (!code)
        code = write_all_made(m, err);
    if (code) {
        qp_maker_drop(m);
        return code;
    }
    qp_writer_paste(m->file, QP_S_DOCUMENTS);
    qp_writer_paste(m->file, QP_S_NODES);
    qp_writer_paste(m->file, QP_S_STRINGS);
    qp_writer_put(m->file, QP_S_INFO, &m->info, sizeof m->info);
    code = qp_writer_close(m->file, err);
    release(m);
    return code;
}

void qp_maker_drop(qp_maker *m)
{
    if (!m)
        return;
    qp_writer_drop(m->file);
    release(m);
}
