/* Chat, always as a stream, so that stop, cancel and a stalled server are seen at once: OpenAI's server-sent events
 * ("data: {...}", ended by "data: [DONE]") and Ollama's JSON lines (ended by "done": true). A server that does not
 * stream may give its answer whole, on one line.
 */
#include "model/http_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN_BYTES 64 /* no token is longer on average: an answer beyond max_tokens of them is a server run wild */

typedef struct chat {
    const qp_http_model *m;
    const qp_sampling *s;
    qp_buf text;
    size_t most;
    bool done, stopped, wild, given; /* given: some text went to the caller */
    char other[60];                  /* the beginning of a line that belongs to no stream */
    qp_err why;                      /* what the stream itself says is wrong */
} chat;

/* ---- the request ---- */

static bool add_messages(yyjson_mut_doc *doc, yyjson_mut_val *root, const qp_message *message, uint32_t n)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "messages");
    bool whole = list != NULL;
    for (uint32_t i = 0; i < n; i++) {
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        whole = yyjson_mut_obj_add_str(doc, item, "role", message[i].role) &&
                yyjson_mut_obj_add_val(doc, item, "content", qp_http_text(doc, message[i].text)) && whole;
    }
    return whole;
}

static void add_numbers(yyjson_mut_doc *doc, yyjson_mut_val *to, const qp_sampling *s, const char *length)
{
    yyjson_mut_obj_add_real(doc, to, "temperature", (double)s->temperature);
    if (s->top_p > 0 && s->top_p < 1)
        yyjson_mut_obj_add_real(doc, to, "top_p", (double)s->top_p);
    yyjson_mut_obj_add_uint(doc, to, "seed", s->seed & INT32_MAX);
    if (s->max_tokens)
        yyjson_mut_obj_add_uint(doc, to, length, s->max_tokens);
    yyjson_mut_val *stop = s->n_stop ? yyjson_mut_obj_add_arr(doc, to, "stop") : NULL;
    for (uint32_t i = 0; i < s->n_stop; i++)
        yyjson_mut_arr_add_str(doc, stop, s->stop[i]);
}

/* A schema goes where the service wants it. A grammar goes to servers that know the field (llama.cpp's own); OpenAI's
 * refuses fields that it does not know. */
static qp_code add_form(const chat *c, yyjson_mut_doc *doc, yyjson_mut_val *root, qp_err *err)
{
    const qp_sampling *s = c->s;
    if (s->grammar && c->m->provider == QP_OPENAI && !strstr(c->m->base, "//api.openai.com"))
        yyjson_mut_obj_add_str(doc, root, "grammar", s->grammar);
    if (!s->json_schema)
        return QP_OK;
    yyjson_doc *schema = yyjson_read(s->json_schema, strlen(s->json_schema), 0);
    yyjson_mut_val *copy = yyjson_val_mut_copy(doc, yyjson_doc_get_root(schema));
    yyjson_doc_free(schema);
    if (!copy)
        return qp_fail(err, QP_INPUT, "%s: the JSON schema of the answer is not JSON", c->m->name);
    if (c->m->provider == QP_OLLAMA) {
        yyjson_mut_obj_add_val(doc, root, "format", copy);
        return QP_OK;
    }
    yyjson_mut_val *format = yyjson_mut_obj_add_obj(doc, root, "response_format");
    yyjson_mut_obj_add_str(doc, format, "type", "json_schema");
    yyjson_mut_val *named = yyjson_mut_obj_add_obj(doc, format, "json_schema");
    yyjson_mut_obj_add_str(doc, named, "name", "answer");
    yyjson_mut_obj_add_val(doc, named, "schema", copy);
    return QP_OK;
}

static qp_code write_request(const chat *c, const qp_message *message, uint32_t n, char **json, size_t *bytes,
                             qp_err *err)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc), *numbers = root;
    bool ollama = c->m->provider == QP_OLLAMA;

    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_str(doc, root, "model", c->m->id);
    yyjson_mut_obj_add_bool(doc, root, "stream", true);
    bool whole = add_messages(doc, root, message, n);
    if (ollama)
        numbers = yyjson_mut_obj_add_obj(doc, root, "options");
    add_numbers(doc, numbers, c->s, ollama ? "num_predict" : "max_tokens");
    qp_code code = whole ? add_form(c, doc, root, err) : qp_oom(err);
    *json = code ? NULL : yyjson_mut_write(doc, 0, bytes);
    yyjson_mut_doc_free(doc);
    return code ? code : *json ? QP_OK : qp_oom(err);
}

/* ---- the stream ---- */

static bool add_text(chat *c, qp_str piece)
{
    if (!piece.n)
        return true;
    if (c->text.n + piece.n > c->most) {
        c->wild = true;
        return false;
    }
    qp_buf_str(&c->text, piece);
    c->given |= c->s->token != NULL;
    c->stopped = c->s->token && !c->s->token(c->s->user, piece.at, piece.n);
    return !c->stopped && !c->text.oom;
}

static bool read_event(chat *c, yyjson_val *root)
{
    yyjson_val *error = yyjson_obj_get(root, "error"), *content, *choice;
    if (error) {
        const char *what = yyjson_get_str(yyjson_is_obj(error) ? yyjson_obj_get(error, "message") : error);
        qp_fail(&c->why, QP_MODEL, "%s: the stream says: %.300s", c->m->name, what ? what : "an error");
        return false;
    }
    if (c->m->provider == QP_OLLAMA) {
        content = yyjson_obj_get(yyjson_obj_get(root, "message"), "content");
        c->done |= yyjson_get_bool(yyjson_obj_get(root, "done"));
    } else {
        choice = yyjson_arr_get_first(yyjson_obj_get(root, "choices"));
        yyjson_val *whole = yyjson_obj_get(choice, "message");
        content = yyjson_obj_get(whole ? whole : yyjson_obj_get(choice, "delta"), "content");
        c->done |= whole || yyjson_is_str(yyjson_obj_get(choice, "finish_reason"));
    }
    return add_text(c, (qp_str){yyjson_get_str(content), yyjson_get_len(content)});
}

/* What frames events: a comment, an empty line, a field that says nothing here. */
static bool is_frame(qp_str line)
{
    return !line.n || qp_str_starts(line, QP_STR(":")) || qp_str_starts(line, QP_STR("event:")) ||
           qp_str_starts(line, QP_STR("id:")) || qp_str_starts(line, QP_STR("retry:"));
}

static bool on_line(void *user, qp_str line)
{
    chat *c = user;
    if (c->m->provider != QP_OLLAMA) {
        bool event = qp_str_starts(line, QP_STR("data:"));
        if (!event && !is_frame(line) && !*c->other)
            snprintf(c->other, sizeof c->other, "%.*s", (int)(line.n < 60 ? line.n : 60), line.at);
        if (!event && !qp_str_starts(line, QP_STR("{")))
            return true;
        line = qp_str_trim(event ? qp_str_slice(line, 5, line.n) : line);
        if (qp_str_eq(line, QP_STR("[DONE]"))) {
            c->done = true;
            return false;
        }
    }
    if (!qp_str_trim(line).n)
        return true;
    yyjson_doc *doc = yyjson_read(line.at, line.n, 0);
    if (!doc)
        qp_fail(&c->why, QP_MODEL, "%s: a line of the stream is not JSON", c->m->name);
    bool more = doc && read_event(c, yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
    return more && !(c->done && c->m->provider == QP_OLLAMA);
}

static qp_http_verdict on_end(void *user, qp_str answer, qp_err *err)
{
    chat *c = user;
    (void)answer;
    if (c->wild) {
        qp_fail(err, QP_MODEL, "%s: the server writes on beyond the %u tokens asked for", c->m->name, c->s->max_tokens);
        return QP_HTTP_REFUSED;
    }
    if (c->text.oom) {
        qp_oom(err);
        return QP_HTTP_REFUSED;
    }
    if (c->stopped || (c->done && !c->why.code))
        return QP_HTTP_TAKEN;
    if (*c->other && !c->text.n && !c->why.code) {
        qp_fail(err, QP_MODEL,
                "%s: an answer as of OpenAI's /chat/completions was wanted, '%s' was found; is the URL right?",
                c->m->name, c->other);
        return QP_HTTP_REFUSED;
    }
    if (c->why.code)
        qp_fail(err, c->why.code, "%s", c->why.message);
    else
        qp_fail(err, QP_MODEL, "%s: the stream broke off after %zu bytes of the answer", c->m->name, c->text.n);
    return QP_HTTP_BROKEN;
}

static bool forget(void *user)
{
    chat *c = user;
    if (c->given) /* what the caller was shown cannot be taken back */
        return false;
    qp_buf_clear(&c->text);
    c->done = c->stopped = c->wild = false;
    *c->other = 0;
    c->why = (qp_err){0};
    return true;
}

qp_code qp_http_generate(void *self, const qp_message *message, uint32_t n, const qp_sampling *s, qp_str *out,
                         qp_arena *mem, qp_err *err)
{
    chat c = {.m = self, .s = s, .most = s->max_tokens ? (size_t)s->max_tokens * TOKEN_BYTES + 4096 : 16u << 20};
    char *json, *url = qp_http_url(c.m, c.m->provider == QP_OLLAMA ? "/api/chat" : "/chat/completions");
    size_t bytes = 0;
    qp_code code = url ? write_request(&c, message, n, &json, &bytes, err) : qp_oom(err);

    if (!code) {
        /* An event wraps a token in some 300 bytes; servers pad against guessing by length. */
        qp_http_call call = {.url = url,
                             .body = {json, bytes},
                             .most = c.most * 64 + (1u << 20),
                             .take = on_end,
                             .line = on_line,
                             .again = forget,
                             .user = &c,
                             .cancel = s->cancel};
        code = qp_http_post(c.m->http, &call, err);
        free(json);
    }
    if (!code) {
        *out = qp_arena_str(mem, qp_buf_view(&c.text));
        code = out->at ? QP_OK : qp_oom(err);
    }
    qp_buf_free(&c.text);
    free(url);
    return code;
}
