/* What our models say, for parity.py to hold against PyTorch: `parity WHAT MODEL.gguf`, JSON lines in, JSON lines out.
 *
 *   tokens  {"text"}           [ids], [CLS] and [SEP] not among them
 *   embed   {"text"}           [vector]
 *   heads   {"text"}           [each head's vector, end to end]
 *   rank    {"query", "text"}  [head(H), then H]
 *   llama   {"query", "text"}  [the score that llama.cpp gives by its own graph] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

#include "model/gguf.h"
#include "model/model.h"
#include "model/tokens.h"

static void leave(const char *why)
{
    fprintf(stderr, "parity: %s\n", why);
    exit(1);
}

static void print_floats(const float *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        printf("%s%.9g", i ? "," : "[", (double)v[i]);
    puts("]");
}

static qp_str member(yyjson_val *line, const char *name)
{
    yyjson_val *v = yyjson_obj_get(line, name);
    return (qp_str){yyjson_get_str(v), yyjson_get_len(v)};
}

static void print_tokens(const qp_tokenizer *t, qp_str text)
{
    qp_ids ids = {0};
    qp_tokenizer_run(t, text, UINT32_MAX, &ids);
    putchar('[');
    for (uint32_t i = 0; i < ids.n; i++)
        printf(i ? ",%d" : "%d", ids.at[i]);
    puts("]");
    free(ids.at);
}

/* One line at a time: a text's result does not depend on its neighbours. */
static void answer(const char *what, const qp_model *m, yyjson_val *line, float *out)
{
    qp_err err = {0};
    qp_str text = member(line, "text"), query = member(line, "query");
    if (!strcmp(what, "embed")) {
        if (m->embed(m->self, QP_PASSAGE, &text, 1, out, &err))
            leave(err.message);
        print_floats(out, m->dim);
    } else if (!strcmp(what, "heads")) {
        if (m->attend(m->self, QP_PASSAGE, &text, 1, out, &err))
            leave(err.message);
        print_floats(out, m->heads * m->head_dim);
    } else if (!strcmp(what, "rank")) {
        if (m->latent(m->self, query, &text, 1, out + 1, &err) || m->head(m->self, out + 1, 1, out, &err))
            leave(err.message);
        print_floats(out, m->width + 1);
    } else {
        if (m->rank(m->self, query, &text, 1, out, &err))
            leave(err.message);
        print_floats(out, 1);
    }
}

static void open_all(const char *what, const char *path, qp_tokenizer *t, qp_model **m)
{
    qp_gguf file = {0};
    qp_err err = {0};
    qp_code code;
    if (!strcmp(what, "tokens")) {
        code = qp_gguf_open(path, &file, &err);
        if (!code)
            code = qp_tokenizer_open(&file, t, &err);
        qp_gguf_close(&file);
    } else if (!strcmp(what, "llama")) {
        code = qp_model_open_llama(path, QP_RANKER, 1, m, &err);
    } else {
        code = qp_model_open(!strcmp(what, "rank")    ? QP_RANKER
                             : !strcmp(what, "heads") ? QP_ATTENTION
                                                      : QP_EMBEDDER,
                             path, 1, m, &err);
    }
    if (code)
        leave(err.message);
}

int main(int argc, char **argv)
{
    qp_tokenizer tokens = {0};
    qp_model *m = NULL;
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    if (argc != 3 || !strstr(" tokens embed heads rank llama ", argv[1]))
        leave("tokens|embed|heads|rank|llama MODEL.gguf were wanted");
    open_all(argv[1], argv[2], &tokens, &m);
    float *out = calloc(m ? m->dim + m->width + m->heads * m->head_dim + 1 : 1, sizeof *out);
    while (out && (n = getline(&line, &room, stdin)) > 0) {
        yyjson_doc *doc = yyjson_read(line, (size_t)n, 0);
        if (!doc)
            leave("a line is not JSON");
        if (m)
            answer(argv[1], m, yyjson_doc_get_root(doc), out);
        else
            print_tokens(&tokens, member(yyjson_doc_get_root(doc), "text"));
        yyjson_doc_free(doc);
    }
    free(line);
    free(out);
    qp_model_close(m);
    if (!m)
        qp_tokenizer_close(&tokens);
}
