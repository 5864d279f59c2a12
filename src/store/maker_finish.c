/* The rest of a snapshot, once all that it is made of was given. */
#include <stdlib.h>

#include "store/ann.h"
#include "store/dot.h"
#include "store/maker_parts.h"
#include "store/precompute.h"
#include "store/store.h"
#include "store/synonyms.h"

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

static qp_code find_made(const qp_maker *m, qp_made what, qp_str text, float *out, bool *found, qp_err *err)
{
    *found = false;
    return m->options.made ? m->options.made(m->options.ctx, what, text, out, found, err) : QP_OK;
}

static qp_code write_made(qp_maker *m, qp_made what, qp_str text, float *out, uint32_t width, qp_err *err)
{
    bool found;
    qp_code code = find_made(m, what, text, out, &found, err);
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

static void add_triple(qp_maker *m, uint32_t edge, const float *v, int8_t *code)
{
    float scale = qp_quantise(v, (uint32_t)m->info.dim, code);
    qp_writer_add(m->file, v, m->info.dim * sizeof *v);
    qp_writer_aside(m->file, QP_S_TRIPLE_EDGE, &edge, sizeof edge);
    qp_writer_aside(m->file, QP_S_TRIPLE_CODES, code, m->info.dim);
    qp_writer_aside(m->file, QP_S_TRIPLE_SCALES, &scale, sizeof scale);
    m->info.triples++;
}

/* Of the edges between entities those that a vector was made of, as "head -> relation -> tail". */
static qp_code write_triples_made(qp_maker *m, qp_err *err)
{
    uint32_t from, to, type;
    float *out = malloc(m->info.dim * sizeof *out);
    int8_t *codes = malloc(m->info.dim);
    qp_buf text = {0}, head = {0}, tail = {0};
    qp_code code = out && codes ? QP_OK : qp_oom(err);
    qp_writer_begin(m->file, QP_S_TRIPLE_VECTORS);
    for (uint32_t i = 0; !code && i < qp_links_count(m->links); i++) {
        bool found = false;
        qp_links_at(m->links, i, &from, &to, &type);
        if (from < m->info.entity || to < m->info.entity)
            continue;
        qp_buf_clear(&text);
        qp_buf_clear(&head);
        qp_buf_clear(&tail);
        code = add_name(m, from, &head, err);
        code = code ? code : add_name(m, to, &tail, err);
        if (!code)
            qp_triple_text(&text, qp_buf_view(&head), qp_links_type(m->links, type), qp_buf_view(&tail));
        code = code || !text.oom ? code : qp_oom(err);
        code = code ? code : find_made(m, QP_MADE_VECTOR, qp_buf_view(&text), out, &found, err);
        if (found)
            add_triple(m, i, out, codes);
    }
    for (int i = 0; !code && i < 3; i++)
        qp_writer_paste(m->file, (qp_section[]){QP_S_TRIPLE_EDGE, QP_S_TRIPLE_CODES, QP_S_TRIPLE_SCALES}[i]);
    qp_buf_free(&text);
    qp_buf_free(&head);
    qp_buf_free(&tail);
    free(out);
    free(codes);
    return code;
}

/* Relations have vectors where there are entities: the edges between documents need none. */
static qp_code write_all_made(qp_maker *m, qp_err *err)
{
    qp_info *i = &m->info;
    if (i->heads && m->headed < i->nodes)
        return qp_fail(err, QP_BUG, "snapshot: attention heads of %u of %u nodes", m->headed, qp_maker_nodes(m));
    i->type_vectors = i->dim && m->entities;
    qp_writer_put(m->file, QP_S_HEAD_SCALES, m->head_scales, i->nodes * i->heads * sizeof *m->head_scales);
    qp_code code = QP_OK;
    if (i->type_vectors)
        code = write_types_made(m, QP_S_TYPE_VECTORS, QP_MADE_VECTOR, (uint32_t)i->dim, err);
    if (!code && i->type_vectors && m->options.triples)
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
    return qp_token_maker_write(m->tokens, m->options.threads, m->options.cancel, m->file, &m->info, err);
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
                               .threads = m->options.threads,
                               .cancel = m->options.cancel};
    return m->codes && qp_maker_draws_synonyms(m) ? qp_synonyms(&alike, m->links, &m->info.synonyms, err) : QP_OK;
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
    return qp_precompute(&graph, o->partition, o->walks, o->threads, o->cancel, m->file, &m->info, err);
}

qp_code qp_maker_finish(qp_maker *m, qp_err *err)
{
    m->info.entity = m->info.nodes - m->entities;
    qp_code code = write_codes(m, err);
    if (!code)
        code = join_synonyms(m, err);
    if (!code)
        code = write_graph(m, err);
    if (!code)
        code = qp_writer_stopped(m->options.cancel, err);
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
