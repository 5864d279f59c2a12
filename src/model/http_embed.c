/* Embeddings (OpenAI, Jina, Ollama) and reranking (Jina, Cohere): texts in, as many vectors or scores out, or an
 * error. */
#include "model/http_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"

#define BATCH_TEXTS 64
#define BATCH_BYTES (256u << 10)
#define MOST_DIM 65536

/* ---- requests ---- */

typedef struct batch {
    const qp_http_model *m;
    qp_role role;
    const qp_str *query; /* reranking; null: embedding */
    const qp_str *text;
    uint32_t n, dim; /* dim 0: not known yet, the answer says */
    float *out;      /* n x dim, or n scores */
    bool *seen;      /* n: which the answer has given */
} batch;

static char *write_request(const batch *b, size_t *bytes)
{
    const qp_http_model *m = b->m;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);

    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_str(doc, root, "model", m->id);
    if (b->query) {
        yyjson_mut_obj_add_val(doc, root, "query", qp_http_text(doc, *b->query));
        yyjson_mut_obj_add_uint(doc, root, "top_n", b->n);
        if (m->provider == QP_JINA)
            yyjson_mut_obj_add_bool(doc, root, "return_documents", false);
    } else if (m->provider == QP_JINA) {
        yyjson_mut_obj_add_str(doc, root, "task", b->role == QP_QUERY ? "retrieval.query" : "retrieval.passage");
    } else if (m->provider == QP_OPENAI) {
        yyjson_mut_obj_add_str(doc, root, "encoding_format", "float");
    }
    yyjson_mut_val *texts = yyjson_mut_obj_add_arr(doc, root, b->query ? "documents" : "input");
    bool whole = texts != NULL;
    for (uint32_t i = 0; i < b->n; i++)
        whole = yyjson_mut_arr_append(texts, qp_http_text(doc, b->text[i])) && whole;
    char *json = whole ? yyjson_mut_write(doc, 0, bytes) : NULL;
    yyjson_mut_doc_free(doc);
    return json;
}

/* ---- answers ---- */

static qp_http_verdict refuse(const batch *b, qp_err *err, const char *what, double got, double wanted)
{
    qp_fail(err, QP_MODEL, "%s: the answer has %s: %g where %g was wanted", b->m->name, what, got, wanted);
    return QP_HTTP_REFUSED;
}

static qp_http_verdict read_vector(const batch *b, yyjson_val *vector, float *out, qp_err *err)
{
    size_t i, n;
    yyjson_val *item;
    double square = 0;

    if (!yyjson_is_arr(vector) || yyjson_arr_size(vector) != b->dim)
        return refuse(b, err, "a vector of another dimension", (double)yyjson_arr_size(vector), b->dim);
    yyjson_arr_foreach(vector, i, n, item) {
        double x = yyjson_is_num(item) ? yyjson_get_num(item) : NAN;
        if (!isfinite((float)x)) {
            qp_fail(err, QP_MODEL, "%s: the answer has a vector with something that is no finite number", b->m->name);
            return QP_HTTP_REFUSED;
        }
        out[i] = (float)x;
        square += x * x;
    }
    if (square <= 0 || !isfinite(square)) {
        qp_fail(err, QP_MODEL, "%s: the answer has a vector without length", b->m->name);
        return QP_HTTP_REFUSED;
    }
    for (i = 0; i < n; i++)
        out[i] = (float)(out[i] / sqrt(square));
    return QP_HTTP_TAKEN;
}

static qp_http_verdict read_score(const batch *b, yyjson_val *item, float *out, qp_err *err)
{
    yyjson_val *score = yyjson_obj_get(item, "relevance_score");
    double x = yyjson_is_num(score) ? yyjson_get_num(score) : NAN;
    *out = (float)x;
    if (isfinite(*out))
        return QP_HTTP_TAKEN;
    qp_fail(err, QP_MODEL, "%s: the answer has a relevance_score that is no finite number", b->m->name);
    return QP_HTTP_REFUSED;
}

/* [{"index": i, ...}]: each index once, in any order; without an index, in the order of the texts. */
static qp_http_verdict read_items(const batch *b, yyjson_val *items, qp_err *err)
{
    size_t i, n;
    yyjson_val *item;

    if (yyjson_arr_size(items) != b->n)
        return refuse(b, err, b->query ? "another number of scores" : "another number of vectors",
                      (double)yyjson_arr_size(items), b->n);
    memset(b->seen, 0, b->n * sizeof *b->seen);
    yyjson_arr_foreach(items, i, n, item) {
        yyjson_val *index = yyjson_obj_get(item, "index");
        uint64_t at = yyjson_is_uint(index) ? yyjson_get_uint(index) : i;
        if (at >= b->n || b->seen[at])
            return refuse(b, err, "an index that is out of range or there twice", (double)at, b->n - 1.);
        b->seen[at] = true;
        yyjson_val *vector = yyjson_is_arr(item) ? item : yyjson_obj_get(item, "embedding");
        qp_http_verdict v =
            b->query ? read_score(b, item, b->out + at, err) : read_vector(b, vector, b->out + at * b->dim, err);
        if (v != QP_HTTP_TAKEN)
            return v;
    }
    return QP_HTTP_TAKEN;
}

static yyjson_val *items_of(const batch *b, yyjson_val *root)
{
    return yyjson_obj_get(root, b->query ? "results" : b->m->provider == QP_OLLAMA ? "embeddings" : "data");
}

static qp_http_verdict take(void *user, qp_str answer, qp_err *err)
{
    batch *b = user;
    yyjson_read_err why;
    yyjson_doc *doc =
        yyjson_read_opts((char *)(uintptr_t)answer.at, answer.n, YYJSON_READ_ALLOW_INF_AND_NAN, NULL, &why);
    qp_http_verdict verdict = QP_HTTP_BROKEN;
    yyjson_val *items = items_of(b, yyjson_doc_get_root(doc)), *first = yyjson_arr_get_first(items);

    if (!doc) {
        qp_fail(err, QP_MODEL, "%s: the answer is not JSON: %s at byte %zu of %zu", b->m->name, why.msg, why.pos,
                answer.n);
    } else if (!yyjson_is_arr(items)) {
        qp_fail(err, QP_MODEL, "%s: the answer has no list of %s", b->m->name, b->query ? "results" : "embeddings");
        verdict = QP_HTTP_REFUSED;
    } else if (!b->query && !b->dim) { /* the probe: only the length is wanted */
        size_t dim = yyjson_arr_size(yyjson_is_arr(first) ? first : yyjson_obj_get(first, "embedding"));
        b->dim = dim <= MOST_DIM ? (uint32_t)dim : 0;
        verdict = b->dim ? QP_HTTP_TAKEN : refuse(b, err, "a vector of an impossible dimension", (double)dim, MOST_DIM);
    } else {
        verdict = read_items(b, items, err);
    }
    yyjson_doc_free(doc);
    return verdict;
}

static qp_code run_batch(batch *b, qp_err *err)
{
    size_t bytes = 0;
    char *json = write_request(b, &bytes);
    char *url = qp_http_url(b->m, b->query ? "/rerank" : b->m->provider == QP_OLLAMA ? "/api/embed" : "/embeddings");
    b->seen = calloc(b->n, sizeof *b->seen);
    /* A float is written in at most 25 bytes; Jina and Cohere may repeat a document. */
    size_t item = b->query ? 4096 : (size_t)(b->dim ? b->dim : MOST_DIM) * 25 + 4096;
    qp_http_call call = {
        .url = url, .body = {json, bytes}, .most = item * b->n + 4 * bytes + (1u << 20), .take = take, .user = b};
    qp_code code = json && url && b->seen ? qp_http_post(b->m->http, &call, err) : qp_oom(err);
    free(b->seen);
    free(json);
    free(url);
    return code;
}

/* ---- plural calls ---- */

typedef struct batches {
    const qp_http_model *m;
    qp_role role;
    const qp_str *text;
    float *out;
    uint32_t *from; /* batch i: texts [from[i], from[i + 1]) */
} batches;

static qp_code run_one(void *ctx, int worker, size_t i, qp_err *err)
{
    const batches *all = ctx;
    uint32_t from = all->from[i];
    (void)worker;
    batch b = {.m = all->m,
               .role = all->role,
               .text = all->text + from,
               .n = all->from[i + 1] - from,
               .dim = all->m->model.dim,
               .out = all->out + (size_t)from * all->m->model.dim};
    return run_batch(&b, err);
}

qp_code qp_http_embed(void *self, qp_role role, const qp_str *text, uint32_t n, float *out, qp_err *err)
{
    qp_http_model *m = self;
    batches all = {.m = m, .role = role, .text = text, .out = out, .from = calloc((size_t)n + 1, sizeof *all.from)};
    size_t count = 0, bytes = 0;

    if (!all.from)
        return qp_oom(err);
    for (uint32_t i = 0; i < n; i++) {
        bytes += text[i].n;
        if (i == 0 || i - all.from[count - 1] == BATCH_TEXTS || bytes > BATCH_BYTES) {
            all.from[count++] = i;
            bytes = text[i].n;
        }
    }
    all.from[count] = n;
    qp_code code = qp_parallel(qp_http_concurrency(m->http), count, run_one, &all, err);
    free(all.from);
    return code;
}

qp_code qp_http_probe(qp_http_model *m, qp_err *err)
{
    qp_str word = QP_STR("dimension");
    batch b = {.m = m, .text = &word, .n = 1};
    qp_code code = run_batch(&b, err);
    m->model.dim = b.dim;
    return code;
}

/* One request for all texts: services rank a list, and some scale the scores by it. */
qp_code qp_http_rank(void *self, qp_str query, const qp_str *text, uint32_t n, float *score, qp_err *err)
{
    batch b = {.m = self, .query = &query, .text = text, .n = n, .out = score};
    return n ? run_batch(&b, err) : QP_OK;
}
