/* openai:MODEL@URL and its like: what a spec means, and which key goes where. */
#include "model/http_model.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "text/utf8.h"

static const struct provider {
    const char *name, *base, *version, *key; /* version: the path of a base URL that has none */
    bool embeds, ranks, writes;
} providers[] = {
    [QP_OPENAI] = {"openai", "https://api.openai.com/v1", "/v1", "OPENAI_API_KEY", true, false, true},
    [QP_OLLAMA] = {"ollama", "http://127.0.0.1:11434", "", "OLLAMA_API_KEY", true, false, true},
    [QP_JINA] = {"jina", "https://api.jina.ai/v1", "/v1", "JINA_API_KEY", true, true, false},
    [QP_COHERE] = {"cohere", "https://api.cohere.com/v2", "/v2", "COHERE_API_KEY", false, true, false},
};

char *qp_http_url(const qp_http_model *m, const char *path)
{
    qp_buf url = {0};
    qp_buf_fmt(&url, "%s%s", m->base, path);
    if (!url.oom)
        return url.at;
    qp_buf_free(&url);
    return NULL;
}

yyjson_mut_val *qp_http_text(yyjson_mut_doc *doc, qp_str text)
{
    qp_buf whole = {0};
    if (qp_utf8_valid(text) != text.n) {
        qp_utf8_repair(text, &whole);
        text = qp_buf_view(&whole);
    }
    yyjson_mut_val *value = text.n ? yyjson_mut_strncpy(doc, text.at, text.n) : yyjson_mut_str(doc, " ");
    if (whole.oom)
        value = NULL;
    qp_buf_free(&whole);
    return value;
}

static void close_model(void *self)
{
    qp_http_model *m = self;
    qp_http_close(m->http);
    free(m->name);
    free(m->id);
    free(m->base);
    free(m);
}

/* A tokenizer far away cannot be asked a million times, so this is a bound for the usual subword vocabularies, on the
 * high side: a token for every four letters or digits begun, for each other sign, and for each character beyond
 * ASCII. */
static qp_code count(void *self, const qp_str *text, uint32_t n, uint32_t *tokens, qp_err *err)
{
    (void)self, (void)err;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t run = 0;
        tokens[i] = 0;
        for (size_t j = 0; j < text[i].n; j++) {
            unsigned char c = (unsigned char)text[i].at[j];
            bool word = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
            tokens[i] += word ? run % 4 == 0 : c > ' ' && (c < 0x80 || c >= 0xc0);
            run = word ? run + 1 : 0;
        }
    }
    return QP_OK;
}

static qp_code set_base(qp_http_model *m, const char *url, qp_err *err)
{
    const struct provider *p = &providers[m->provider];
    const char *host = url ? strstr(url, "://") : NULL;
    qp_buf base = {0};

    size_t authority = host ? strcspn(host + 3, "/") : 0;
    if (host && memchr(host + 3, '@', authority))
        return qp_fail(err, QP_INPUT, "a model's URL holds a user or password; keys are read from the environment (%s)",
                       p->key);
    if (url &&
        (!host || (strncmp(url, "http://", 7) && strncmp(url, "https://", 8)) || !host[3] || strpbrk(url, " \t\r\n?#")))
        return qp_fail(err, QP_INPUT, "%s: after '@' stands http://HOST... or https://HOST...", m->name);
    qp_buf_text(&base, url ? url : p->base);
    while (base.n && base.at[base.n - 1] == '/')
        base.at[--base.n] = 0;
    if (url && !base.oom && !strchr(strstr(base.at, "://") + 3, '/'))
        qp_buf_text(&base, p->version);
    if (base.oom)
        return qp_oom(err);
    m->base = base.at;
    return QP_OK;
}

static bool is_loopback(const char *url)
{
    const char *host = strstr(url, "://") + 3;
    static const char *const own[] = {"127.0.0.1", "localhost", "[::1]"};
    for (size_t i = 0; i < 3; i++) {
        size_t n = strlen(own[i]);
        if (!strncmp(host, own[i], n) && (!host[n] || host[n] == ':' || host[n] == '/'))
            return true;
    }
    return false;
}

/* The provider's own variable, else the one for all. Never over a wire that others can read. */
static qp_code find_key(const qp_http_model *m, const char **key, qp_err *err)
{
    const char *own = getenv(providers[m->provider].key), *any = getenv("QUIPU_API_KEY");
    *key = own && *own ? own : any && *any ? any : NULL;
    if (*key && strncmp(m->base, "https:", 6) && !is_loopback(m->base))
        return qp_fail(err, QP_MODEL, "%s: would send the key of %s unencrypted; use https, or unset it", m->name,
                       *key == own ? providers[m->provider].key : "QUIPU_API_KEY");
    return QP_OK;
}

/* PROVIDER:MODEL[@URL]; a model's name may hold ':' and '@', so the URL is looked for by its scheme. */
static qp_code parse(qp_http_model *m, const char *spec, qp_err *err)
{
    const char *colon = strchr(spec, ':'), *at;
    size_t i = 0, n = sizeof providers / sizeof *providers;

    while (i < n && (!colon || strlen(providers[i].name) != (size_t)(colon - spec) ||
                     strncmp(spec, providers[i].name, (size_t)(colon - spec))))
        i++;
    if (i == n)
        return qp_fail(err, QP_INPUT, "'%.60s': a model far away is openai:, ollama:, jina: or cohere:MODEL@URL", spec);
    m->provider = (qp_provider)i;
    if (!(at = strstr(colon, "@http://")))
        at = strstr(colon, "@https://");
    size_t length = at ? (size_t)(at - colon) - 1 : strlen(colon + 1);
    if (!length)
        return qp_fail(err, QP_INPUT, "%s: names no model; it is %s:MODEL@URL", providers[i].name, providers[i].name);
    m->id = strndup(colon + 1, length);
    if (!m->id)
        return qp_oom(err);
    return set_base(m, at ? at + 1 : NULL, err);
}

static qp_code set_up(qp_http_model *m, const char *spec, qp_purpose purpose, qp_err *err)
{
    const struct provider *p;
    const char *key;
    qp_code code;

    m->name = strdup(spec);
    if (!m->name)
        return qp_oom(err);
    if ((code = parse(m, spec, err)))
        return code;
    p = &providers[m->provider];
    if (purpose == QP_ATTENTION)
        return qp_fail(err, QP_MODEL,
                       "%s: shows nothing of its attention; name a model on this machine (quipu model list) or a .gguf",
                       m->name);
    if (purpose == QP_EMBEDDER ? !p->embeds : purpose == QP_RANKER ? !p->ranks : !p->writes)
        return qp_fail(err, QP_MODEL, "%s: %s offers no %s here", m->name, p->name,
                       purpose == QP_EMBEDDER ? "embeddings"
                       : purpose == QP_RANKER ? "reranking (jina: and cohere: do)"
                                              : "chat");
    if ((code = find_key(m, &key, err)))
        return code;
    qp_str parts[] = {qp_str_of(p->name), qp_str_of(m->id), qp_str_of(m->base)};
    memcpy(m->digest, qp_digest_parts(parts, 3).hex, sizeof m->digest);
    return qp_http_open(m->name, key, &m->http, err);
}

qp_code qp_model_open_http(const char *spec, qp_purpose purpose, qp_model **out, qp_err *err)
{
    qp_http_model *m = calloc(1, sizeof *m);
    qp_code code = m ? set_up(m, spec, purpose, err) : qp_oom(err);

    if (!code) {
        m->model = (qp_model){.self = m,
                              .name = m->name,
                              .digest = m->digest,
                              .max_tokens = purpose == QP_WRITER ? 32768 : 8192,
                              .count = count,
                              .close = close_model};
        if (purpose == QP_EMBEDDER) {
            m->model.embed = qp_http_embed;
            code = qp_http_probe(m, err);
        } else if (purpose == QP_RANKER) {
            m->model.rank = qp_http_rank;
        } else {
            m->model.generate = qp_http_generate;
            m->model.at_once = (uint32_t)qp_http_concurrency(m->http);
        }
    }
    if (code) {
        if (m)
            close_model(m);
        return code;
    }
    *out = &m->model;
    return QP_OK;
}
