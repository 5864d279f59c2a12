/* A model without weights: feature hashing. For tests, and for a first index before any model is here. It knows words
 * and nothing of meaning, so it is lexical search in the clothes of a dense one.
 *
 * Embedding: each term adds +1 or -1 (one bit of its hash) at one of `dim` places (the rest of its hash); unit length.
 * Latent of (query, text), 16 wide: place 0..14: the share of the query's distinct terms that the text has, each
 * counted at a place by its hash; place 15: cosine of the two embeddings. Head: their sum. It is linear, so that a
 * score of mixed latents can be worked by hand. Attention: 4 heads of 16, each made as an embedding of 16 is, by a hash
 * of its own, and left at its length. Vectors of tokens: a direction for each term, numbers drawn from its hash.
 * Learned terms: 30,000 of them, each word is one (by its hash) and weighs 1 + ln of how often it stands there.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/random.h"
#include "base/sorted.h"
#include "base/vector.h"
#include "model/model.h"
#include "text/terms.h"

enum { WIDTH = 16, DIM = 256, TERMS = 30000, HEADS = 4, HEAD_DIM = 16 };

typedef struct hashing {
    qp_model model;
    char name[24];
    qp_digest digest;
} hashing;

/* ---- embedding ---- */

typedef struct target {
    float *vector;
    uint32_t dim;
} target;

static void add_term(void *self, qp_str term, size_t from, size_t to)
{
    (void)from, (void)to;
    target *t = self;
    uint64_t h = qp_hash64(term);
    t->vector[(h >> 1) % t->dim] += h & 1 ? 1 : -1;
}

static void embed_one(qp_terms *terms, qp_str text, uint32_t dim, float *out)
{
    memset(out, 0, dim * sizeof *out);
    qp_terms_each(terms, text, add_term, &(target){out, dim});
    double sum = 0;
    for (uint32_t i = 0; i < dim; i++)
        sum += (double)out[i] * out[i];
    for (uint32_t i = 0; i < dim && sum > 0; i++)
        out[i] = (float)(out[i] / sqrt(sum));
    if (!(sum > 0)) /* no term, or all of them cancelled out: still unit length */
        out[0] = 1;
}

static qp_code hash_embed(void *self, qp_role role, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    (void)role;
    const hashing *m = self;
    qp_terms *terms;
    qp_code code = qp_terms_open(NULL, &terms, err);
    if (code)
        return code;
    for (uint32_t i = 0; i < n; i++)
        embed_one(terms, text[i], m->model.dim, out + (size_t)i * m->model.dim);
    qp_terms_close(terms);
    return QP_OK;
}

/* A part of a text by its own words. */
static qp_code hash_embed_spans(void *self, const qp_str *text, uint32_t n, const qp_text_span *span, uint32_t m,
                                float *out, float *of_spans, qp_err *err)
{
    const uint32_t dim = ((hashing *)self)->model.dim;
    qp_code code = hash_embed(self, QP_PASSAGE, text, n, out, err);
    for (uint32_t i = 0; !code && i < m; i++) {
        const qp_str part = qp_str_slice(text[span[i].text], span[i].from, span[i].to);
        code = hash_embed(self, QP_PASSAGE, &part, 1, of_spans + (size_t)i * dim, err);
    }
    return code;
}

/* ---- vectors of tokens ---- */

typedef struct rows {
    float *next;
    uint32_t dim;
} rows;

/* Dense, as those of a model are: each term its own direction. */
static void add_row(void *self, qp_str term, size_t from, size_t to)
{
    (void)from, (void)to;
    rows *r = self;
    qp_random random = qp_random_seed(qp_hash64(term));
    for (uint32_t j = 0; j < r->dim; j++)
        r->next[j] = (float)(qp_random_unit(&random) + qp_random_unit(&random) - 1);
    qp_make_unit(r->next, r->dim);
    r->next += r->dim;
}

static void count_row(void *self, qp_str term, size_t from, size_t to)
{
    (void)term, (void)from, (void)to;
    ++*(uint32_t *)self;
}

static qp_code hash_tokens(void *self, qp_role role, const qp_str *text, uint32_t n, qp_token_rows *out, qp_arena *mem,
                           qp_err *err)
{
    const uint32_t dim = ((hashing *)self)->model.dim;
    qp_terms *terms;
    (void)role;
    qp_code code = qp_terms_open(NULL, &terms, err);
    if (code)
        return code;
    for (uint32_t i = 0; i < n && !code; i++) {
        uint32_t found = 0;
        qp_terms_each(terms, text[i], count_row, &found);
        float *at = qp_new(mem, float, (size_t)found *dim + 1);
        if (at)
            qp_terms_each(terms, text[i], add_row, &(rows){at, dim});
        else
            code = qp_oom(err);
        out[i] = (qp_token_rows){at, found};
    }
    qp_terms_close(terms);
    return code;
}

/* ---- attention ---- */

static void attend_to_term(void *self, qp_str term, size_t from, size_t to)
{
    (void)from, (void)to;
    float *out = self;
    qp_random r = qp_random_seed(qp_hash64(term)); /* a number of it for each head */
    for (int h = 0; h < HEADS; h++, out += HEAD_DIM) {
        uint64_t x = qp_random_next(&r);
        out[(x >> 1) % HEAD_DIM] += x & 1 ? 1 : -1;
    }
}

static qp_code hash_attend(void *self, qp_role role, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    (void)self, (void)role;
    qp_terms *terms;
    qp_code code = qp_terms_open(NULL, &terms, err);
    if (code)
        return code;
    for (uint32_t i = 0; i < n; i++, out += HEADS * HEAD_DIM) {
        memset(out, 0, HEADS * HEAD_DIM * sizeof *out);
        qp_terms_each(terms, text[i], attend_to_term, out);
    }
    qp_terms_close(terms);
    return QP_OK;
}

/* ---- pairs ---- */

static void collect_term(void *self, qp_str term, size_t from, size_t to)
{
    (void)from, (void)to;
    qp_map_put(self, term, NULL);
}

static void latent_one(const qp_map *asked, const qp_map *there, float *out)
{
    memset(out, 0, WIDTH * sizeof *out);
    for (size_t i = 0; i < qp_map_size(asked); i++)
        if (qp_map_get(there, qp_map_key(asked, i)))
            out[qp_hash64(qp_map_key(asked, i)) % (WIDTH - 1)] += 1.f / (float)qp_map_size(asked);
}

static qp_code hash_latent(void *self, qp_str query, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    const uint32_t dim = ((hashing *)self)->model.dim;
    qp_terms *terms;
    qp_code code = qp_terms_open(NULL, &terms, err);
    if (code)
        return code;
    qp_map *asked = qp_map_new();
    float *vectors = malloc(2 * (size_t)dim * sizeof *vectors);
    if (!asked || !vectors)
        code = qp_oom(err);
    else {
        qp_terms_each(terms, query, collect_term, asked);
        embed_one(terms, query, dim, vectors);
    }
    for (uint32_t i = 0; i < n && !code; i++, out += WIDTH) {
        qp_map *there = qp_map_new();
        if (!there) {
            code = qp_oom(err);
            break;
        }
        qp_terms_each(terms, text[i], collect_term, there);
        latent_one(asked, there, out);
        qp_map_free(there);
        embed_one(terms, text[i], dim, vectors + dim);
        for (uint32_t j = 0; j < dim; j++)
            out[WIDTH - 1] += vectors[j] * vectors[dim + j];
    }
    qp_map_free(asked);
    free(vectors);
    qp_terms_close(terms);
    return code;
}

static qp_code hash_head(void *self, const float *latent, uint32_t n, float *score, qp_err *err)
{
    (void)self, (void)err;
    for (uint32_t i = 0; i < n; i++, latent += WIDTH) {
        score[i] = 0;
        for (uint32_t j = 0; j < WIDTH; j++)
            score[i] += latent[j];
    }
    return QP_OK;
}

static qp_code hash_rank(void *self, qp_str query, const qp_str *text, uint32_t n, float *score, qp_err *err)
{
    float latent[WIDTH];
    qp_code code = QP_OK;
    for (uint32_t i = 0; i < n && !code; i++)
        if (!(code = hash_latent(self, query, text + i, 1, latent, err)))
            code = hash_head(self, latent, 1, score + i, err);
    return code;
}

/* ---- learned terms ---- */

typedef struct weighing { /* how often each term stands in a text; those that do are listed */
    uint32_t *count, *met, n;
} weighing;

static void meet_term(void *self, qp_str term, size_t from, size_t to)
{
    (void)from, (void)to;
    weighing *w = self;
    uint32_t id = (uint32_t)(qp_hash64(term) % TERMS);
    if (!w->count[id]++)
        w->met[w->n++] = id;
}

static bool weigh_one(qp_terms *terms, qp_str text, weighing *w, qp_sparse *out, qp_arena *mem)
{
    w->n = 0;
    qp_terms_each(terms, text, meet_term, w);
    qsort(w->met, w->n, sizeof *w->met, qp_by_u32);
    uint32_t *term = qp_new(mem, uint32_t, w->n + 1);
    float *weight = qp_new(mem, float, w->n + 1);
    for (uint32_t i = 0; term && weight && i < w->n; i++) {
        term[i] = w->met[i];
        weight[i] = 1 + logf((float)w->count[term[i]]);
    }
    for (uint32_t i = 0; i < w->n; i++)
        w->count[w->met[i]] = 0;
    *out = (qp_sparse){term, weight, w->n};
    return term && weight;
}

static qp_code hash_weigh(void *self, qp_role role, const qp_str *text, uint32_t n, qp_sparse *out, qp_arena *mem,
                          qp_err *err)
{
    (void)self, (void)role;
    qp_terms *terms;
    weighing w = {calloc(2 * TERMS, sizeof(uint32_t)), NULL, 0};
    qp_code code = w.count ? qp_terms_open(NULL, &terms, err) : qp_oom(err);
    if (code) {
        free(w.count);
        return code;
    }
    w.met = w.count + TERMS;
    for (uint32_t i = 0; !code && i < n; i++)
        code = weigh_one(terms, text[i], &w, &out[i], mem) ? QP_OK : qp_oom(err);
    qp_terms_close(terms);
    free(w.count);
    return code;
}

/* ---- counting ---- */

static void count_term(void *self, qp_str term, size_t from, size_t to)
{
    (void)term, (void)from, (void)to;
    ++*(uint32_t *)self;
}

static qp_code hash_count(void *self, const qp_str *text, uint32_t n, uint32_t *tokens, qp_err *err)
{
    (void)self;
    qp_terms *terms;
    qp_code code = qp_terms_open(NULL, &terms, err);
    if (code)
        return code;
    for (uint32_t i = 0; i < n; i++) {
        tokens[i] = 0;
        qp_terms_each(terms, text[i], count_term, tokens + i);
    }
    qp_terms_close(terms);
    return QP_OK;
}

qp_code qp_model_open_hash(uint32_t dim, qp_purpose purpose, qp_model **out, qp_err *err)
{
    if (dim > 1 << 16)
        return qp_fail(err, QP_INPUT, "hash:%u: at most hash:65536 is possible", dim);
    hashing *m = calloc(1, sizeof *m);
    if (!m)
        return qp_oom(err);
    dim = dim ? dim : DIM;
    snprintf(m->name, sizeof m->name, "hash:%u", dim);
    /* What is kept by it is not what the embedder made. */
    const qp_str made[] = {qp_str_of(m->name), purpose == QP_SPARSE ? QP_STR("terms") : QP_STR("attention")};
    m->digest = purpose == QP_SPARSE || purpose == QP_ATTENTION ? qp_digest_parts(made, 2) : qp_digest_of(made[0]);
    m->model = (qp_model){.self = m,
                          .name = m->name,
                          .digest = m->digest.hex,
                          .dim = dim,
                          .width = WIDTH,
                          .max_tokens = UINT32_MAX,
                          .heads = HEADS,
                          .head_dim = HEAD_DIM,
                          .embed = hash_embed,
                          .embed_spans = hash_embed_spans,
                          .token_dim = dim,
                          .tokens = hash_tokens,
                          .attend = hash_attend,
                          .latent = hash_latent,
                          .head = hash_head,
                          .rank = hash_rank,
                          .terms = TERMS,
                          .weigh = hash_weigh,
                          .count = hash_count,
                          .close = free};
    *out = &m->model;
    return QP_OK;
}
