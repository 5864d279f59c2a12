#include "cli.h"
#include "json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef qp_code (*asker)(qp_index *, const char *, const qp_ask_options *, char **, qp_err *);

typedef struct session {
    cli *c;
    qp_index *index;
    asker call;
    qp_ask_options options;
    FILE *run;     /* TREC run, or null */
    bool streamed; /* the answer went to the terminal as it was written */
} session;

static void on_token(void *user, const char *text, size_t n)
{
    (void)user;
    fwrite(text, 1, n, stdout);
    fflush(stdout);
}

/* ---- for people ---- */

static void print_place(yyjson_val *hit)
{
    printf("%s%s", dim(), member(hit, "document"));
    yyjson_val *page = yyjson_obj_get(hit, "page"), *span = yyjson_obj_get(hit, "span");
    if (yyjson_is_uint(page))
        printf(", page %llu", (unsigned long long)yyjson_get_uint(page));
    printf(", bytes %llu-%llu%s\n", (unsigned long long)yyjson_get_uint(yyjson_arr_get(span, 0)),
           (unsigned long long)yyjson_get_uint(yyjson_arr_get(span, 1)), plain());
}

static void print_via(yyjson_val *hit)
{
    yyjson_val *via = yyjson_obj_get(hit, "via"), *step;
    size_t i, n;
    if (!yyjson_arr_size(via))
        return;
    printf("     %svia ", dim());
    yyjson_arr_foreach(via, i, n, step) {
        const char *title = member(step, "title"), *relation = member(step, "relation");
        printf("%s ", *title ? title : member(step, "id"));
        if (*relation)
            printf(yyjson_get_bool(yyjson_obj_get(step, "forward")) ? "-%s-> " : "<-%s- ", relation);
    }
    printf("here%s\n", plain());
}

static void print_hits(yyjson_val *root, bool texts, bool explain)
{
    yyjson_val *hits = yyjson_obj_get(root, "hits"), *hit;
    size_t i, n;
    yyjson_arr_foreach(hits, i, n, hit) {
        const char *title = member(hit, "title"), *text = member(hit, "text");
        printf("%s%3llu  %s%s  %.4f\n     ", bold(), (unsigned long long)yyjson_get_uint(yyjson_obj_get(hit, "rank")),
               *title ? title : member(hit, "id"), plain(), yyjson_get_num(yyjson_obj_get(hit, "score")));
        print_place(hit);
        if (texts)
            print_wrapped(text, strlen(text), 5, 3);
        if (explain)
            print_via(hit);
    }
}

static void print_answer(yyjson_val *root, bool streamed)
{
    const char *answer = member(root, "answer");
    if (streamed)
        printf("\n\n");
    else
        print_wrapped(answer, strlen(answer), 0, 0);
    if (!*member(root, "writer"))
        printf("%s(quoted from the sources; a writer composes an answer: --writer MODEL, see `quipu model list`)%s\n",
               dim(), plain());
    yyjson_val *citations = yyjson_obj_get(root, "citations"), *c;
    size_t i, n;
    putchar('\n');
    yyjson_arr_foreach(citations, i, n, c) {
        const char *title = member(c, "title"), *quote = member(c, "quote");
        printf("%s[%llu] %s%s  ", bold(), (unsigned long long)yyjson_get_uint(yyjson_obj_get(c, "n")), title, plain());
        print_place(c);
        if (*quote)
            print_wrapped(quote, strlen(quote), 4, 3);
    }
    unsigned long long without = yyjson_get_uint(yyjson_obj_get(root, "unsupported"));
    if (without)
        printf("%llu sentence%s of the answer found no support in the sources.\n", without, without == 1 ? "" : "s");
}

static void print_trace(yyjson_val *root)
{
    yyjson_val *trace = yyjson_obj_get(root, "trace"), *step;
    size_t i, n;
    printf("\n%s%6s %6s %6s %9s %9s  %s%s\n", bold(), "in", "out", "passes", "ms", "model ms", "operator", plain());
    yyjson_arr_foreach(trace, i, n, step) {
        printf("%6llu %6llu %6llu %9.2f %9.2f  %*s%s %s%s%s\n",
               (unsigned long long)yyjson_get_uint(yyjson_obj_get(step, "in")),
               (unsigned long long)yyjson_get_uint(yyjson_obj_get(step, "out")),
               (unsigned long long)yyjson_get_uint(yyjson_obj_get(step, "model_passes")),
               yyjson_get_num(yyjson_obj_get(step, "ms")), yyjson_get_num(yyjson_obj_get(step, "model_ms")),
               2 * (int)yyjson_get_int(yyjson_obj_get(step, "depth")), "", member(step, "op"), dim(),
               member(step, "options"), plain());
    }
}

static void print_timings(yyjson_val *root)
{
    yyjson_val *timings = yyjson_obj_get(root, "timings_ms"), *key, *value;
    size_t i, n;
    printf("%s%s:", dim(), member(root, "method"));
    yyjson_obj_foreach(timings, i, n, key, value)
        printf(" %s %.1f ms%s", yyjson_get_str(key), yyjson_get_num(value), i + 1 < n ? "," : "");
    printf("; %llu model passes%s\n", (unsigned long long)yyjson_get_uint(yyjson_obj_get(root, "model_passes")),
           plain());
}

static void print_result(const session *s, yyjson_val *root)
{
    bool answered = yyjson_obj_get(root, "answer") != NULL;
    if (answered)
        print_answer(root, s->streamed);
    if (!answered || s->c->explain)
        print_hits(root, !answered, s->c->explain);
    if (s->c->explain)
        print_trace(root);
    print_timings(root);
}

/* ---- a TREC run: documents, each once, its best chunk counting ---- */

static void put_id(FILE *out, const char *id)
{
    for (; *id; id++) {
        if (*id == '%')
            fputs("%25", out);
        else if (*id == ' ' || (*id >= '\t' && *id <= '\r'))
            fprintf(out, "%%%02X", (unsigned char)*id);
        else
            fputc(*id, out);
    }
}

static const char *run_name(yyjson_val *hit)
{
    const char *document = member(hit, "document");
    return *document ? document : member(hit, "id");
}

static bool named_before(yyjson_val *hits, size_t i, const char *name)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(run_name(yyjson_arr_get(hits, j)), name) == 0)
            return true;
    return false;
}

static void run_lines(FILE *out, yyjson_val *root, const char *question)
{
    yyjson_val *hits = yyjson_obj_get(root, "hits"), *hit;
    size_t i, n;
    unsigned rank = 0;
    yyjson_arr_foreach(hits, i, n, hit) {
        const char *name = run_name(hit);
        if (named_before(hits, i, name))
            continue;
        put_id(out, question);
        fputs(" Q0 ", out);
        put_id(out, name);
        fprintf(out, " %u %.9g ", ++rank, yyjson_get_num(yyjson_obj_get(hit, "score")));
        put_id(out, member(root, "method"));
        fputc('\n', out);
    }
}

/* ---- one question, many questions ---- */

static qp_code ask_one(session *s, const char *id, const char *text, qp_err *err)
{
    char *json = NULL;
    s->options.id = id;
    qp_code code = s->call(s->index, text, &s->options, &json, err);
    if (code)
        return code;
    yyjson_doc *doc = yyjson_read(json, strlen(json), YYJSON_READ_ALLOW_INVALID_UNICODE);
    yyjson_val *root = yyjson_doc_get_root(doc);
    if (s->c->json)
        puts(json);
    else
        print_result(s, root);
    if (s->run)
        run_lines(s->run, root, id ? id : "1");
    yyjson_doc_free(doc);
    qp_free(json);
    return QP_OK;
}

/* A question that finds nothing, or is refused, is told on stderr and the rest goes on; anything else ends it. */
static int ask_file(session *s)
{
    FILE *file = strcmp(s->c->queries, "-") == 0 ? stdin : fopen(s->c->queries, "rb");
    if (!file) {
        fprintf(stderr, "quipu: %s: cannot be read: %s\n", s->c->queries, strerror(errno));
        return QP_INPUT;
    }
    char *line = NULL;
    size_t cap = 0, number = 0;
    int result = 0;
    for (ssize_t n; result == 0 && (n = getline(&line, &cap, file)) >= 0;) {
        number++;
        if (strspn(line, " \t\r\n") == (size_t)n)
            continue;
        yyjson_doc *doc = yyjson_read(line, (size_t)n, 0);
        yyjson_val *root = yyjson_doc_get_root(doc);
        const char *id = member(root, "_id"), *text = member(root, "text");
        qp_err err = {0};
        if (!doc || !*id)
            fprintf(stderr, "quipu: %s:%zu: {\"_id\":...,\"text\":...} was wanted; line left out\n", s->c->queries,
                    number);
        else if (ask_one(s, id, text, &err))
            result = session_fail(err.code, &err);
        if (result == QP_NONE || result == QP_INPUT)
            result = 0;
        yyjson_doc_free(doc);
    }
    free(line);
    if (file != stdin)
        fclose(file);
    return result;
}

static int ask(cli *c, asker call)
{
    if (!c->queries && !c->n_args) {
        fprintf(stderr, "quipu: a QUESTION or --queries FILE was wanted, neither was found\n");
        return QP_USAGE;
    }
    session s = {.c = c, .call = call};
    int refused = session_open(c, false, &s.index);
    if (refused)
        return refused;
    s.options = (qp_ask_options){.method = c->method,
                                 .settings = c->settings,
                                 .n_settings = c->n_settings,
                                 .top = (uint32_t)c->top,
                                 .where = c->where,
                                 .explain = c->explain,
                                 .extract = c->extract,
                                 .context_tokens = (uint32_t)c->context,
                                 .answer_tokens = (uint32_t)c->length,
                                 .deadline_ms = (double)c->deadline,
                                 .watch = session_watch(c)};
    if (call == qp_index_ask && !c->json && !c->extract && c->writer && isatty(STDOUT_FILENO)) {
        s.options.token = on_token;
        s.streamed = true;
    }
    if (c->run && !(s.run = fopen(c->run, "wb"))) {
        fprintf(stderr, "quipu: %s: cannot be written: %s\n", c->run, strerror(errno));
        qp_index_close(s.index);
        return QP_INPUT;
    }
    qp_err err = {0};
    int result = c->queries ? ask_file(&s) : 0;
    if (!c->queries && ask_one(&s, NULL, c->args[0], &err))
        result = session_fail(err.code, &err);
    if (s.run && fclose(s.run) && !result) {
        fprintf(stderr, "quipu: %s: cannot be written: %s\n", c->run, strerror(errno));
        result = QP_INPUT;
    }
    qp_index_close(s.index);
    return result;
}

int run_ask(cli *c)
{
    return ask(c, qp_index_ask);
}

int run_retrieve(cli *c)
{
    return ask(c, qp_index_retrieve);
}
