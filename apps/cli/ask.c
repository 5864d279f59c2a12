#include "cli.h"
#include "json.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_ENTITIES = 64 };

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
    ((session *)user)->streamed = true;
    print_plain(text, n);
    fflush(stdout);
}

/* ---- a TREC run: documents, each once, its best chunk counting ---- */

static void put_id(FILE *out, const char *id)
{
    char *written = qp_run_id(id);
    fputs(written ? written : id, out);
    qp_free(written);
}

static const char *run_name(yyjson_val *hit)
{
    const char *document = member(hit, "document");
    return *document ? document : member(hit, "id");
}

static bool named_before(yyjson_val *hits, yyjson_val *here, const char *name)
{
    yyjson_val *hit;
    size_t i, n;
    yyjson_arr_foreach(hits, i, n, hit) {
        if (hit == here)
            return false;
        if (strcmp(run_name(hit), name) == 0)
            return true;
    }
    return false;
}

static void run_lines(FILE *out, yyjson_val *root, const char *question)
{
    yyjson_val *hits = yyjson_obj_get(root, "hits"), *hit;
    size_t i, n;
    unsigned rank = 0;
    float last = INFINITY; /* scores fall with the rank: trec_eval sorts by them */
    yyjson_arr_foreach(hits, i, n, hit) {
        const char *name = run_name(hit);
        if (named_before(hits, hit, name))
            continue;
        put_id(out, question);
        fputs(" Q0 ", out);
        put_id(out, name);
        float score = (float)yyjson_get_num(yyjson_obj_get(hit, "score"));
        last = score < last ? score : nextafterf(last, -INFINITY);
        fprintf(out, " %u %.9g ", ++rank, (double)last);
        put_id(out, member(root, "method"));
        fputc('\n', out);
    }
}

/* ---- one question, many questions ---- */

/* At once: whoever sends questions through a pipe waits for the answer to each. */
static void put_line(const char *json)
{
    puts(json);
    fflush(stdout);
}

static qp_code ask_one(session *s, const char *id, const char *text, qp_err *err)
{
    char *json = NULL;
    s->streamed = false;
    s->options.id = id;
    qp_code code = s->call(s->index, text, &s->options, &json, err);
    if (code == QP_NONE && id && s->c->json && json) /* among many questions one that finds nothing has its line, too */
        put_line(json);
    if (code) {
        qp_free(json);
        return code;
    }
    yyjson_doc *doc = yyjson_read(json, strlen(json), YYJSON_READ_ALLOW_INVALID_UNICODE);
    yyjson_val *root = yyjson_doc_get_root(doc);
    if (s->c->json)
        put_line(json);
    else
        show_result(s->c, root, s->streamed);
    if (s->run)
        run_lines(s->run, root, id ? id : "1");
    yyjson_doc_free(doc);
    qp_free(json);
    return QP_OK;
}

static const char *first_member(yyjson_val *object, const char *name, const char *other)
{
    const char *text = member(object, name);
    return *text ? text : member(object, other);
}

/* Where a question starts in a knowledge graph: "entities", or "start", a name or a list of names. */
static size_t entities_of(yyjson_val *root, qp_str names[MOST_ENTITIES])
{
    yyjson_val *list = yyjson_obj_get(root, "entities"), *item;
    size_t i, n, count = 0;
    list = list ? list : yyjson_obj_get(root, "start");
    if (yyjson_is_str(list))
        names[count++] = (qp_str){yyjson_get_str(list), yyjson_get_len(list)};
    yyjson_arr_foreach(list, i, n, item)
        if (yyjson_is_str(item) && count < MOST_ENTITIES)
            names[count++] = (qp_str){yyjson_get_str(item), yyjson_get_len(item)};
    return count;
}

/* "_id" or "id", a text or a whole number, written to `out`; empty: there is none. */
static const char *id_of(yyjson_val *root, char out[24])
{
    yyjson_val *id = yyjson_obj_get(root, "_id");
    id = id ? id : yyjson_obj_get(root, "id");
    if (!yyjson_is_int(id))
        return yyjson_is_str(id) ? yyjson_get_str(id) : "";
    snprintf(out, 24, yyjson_is_uint(id) ? "%" PRIu64 : "%" PRId64, yyjson_get_uint(id));
    return out;
}

/* A question that finds nothing, or is refused, is told on stderr and the rest goes on; anything else ends it. The exit
 * code tells of a refusal, too. */
static int ask_file(session *s)
{
    FILE *file = strcmp(s->c->queries, "-") == 0 ? stdin : fopen(s->c->queries, "rb");
    if (!file) {
        fprintf(stderr, "quipu: %s: cannot be read: %s\n", s->c->queries, strerror(errno));
        return QP_INPUT;
    }
    char *line = NULL;
    size_t cap = 0, number = 0, asked = 0;
    int result = 0, refused = 0;
    for (ssize_t n; result == 0 && (n = getline(&line, &cap, file)) >= 0;) {
        number++;
        if (strspn(line, " \t\r\n") == (size_t)n)
            continue;
        yyjson_doc *doc = yyjson_read(line, (size_t)n, 0);
        yyjson_val *root = yyjson_doc_get_root(doc);
        char whole[24];
        const char *id = id_of(root, whole), *text = first_member(root, "text", "question");
        qp_err err = {0};
        qp_str names[MOST_ENTITIES];
        s->options.entities = names;
        s->options.n_entities = entities_of(root, names);
        asked++;
        if (!doc || !*id) {
            fprintf(stderr, "quipu: %s:%zu: {\"_id\":...,\"text\":...} was wanted; line left out\n", s->c->queries,
                    number);
            refused = QP_INPUT;
        } else if (ask_one(s, id, text, &err)) {
            fprintf(stderr, "quipu: %s:%zu: %s\n", s->c->queries, number, err.message);
            result = err.code;
        }
        if (result == QP_NONE || result == QP_INPUT) {
            refused = result == QP_INPUT ? QP_INPUT : refused;
            result = 0;
        }
        yyjson_doc_free(doc);
    }
    if (!result && ferror(file)) {
        fprintf(stderr, "quipu: %s: reading failed: %s\n", s->c->queries, strerror(errno));
        result = QP_INPUT;
    } else if (!result && !asked) {
        fprintf(stderr, "quipu: %s: a question a line was wanted, {\"_id\":...,\"text\":...}; none was found\n",
                s->c->queries);
        result = QP_INPUT;
    }
    free(line);
    if (file != stdin)
        fclose(file);
    return result ? result : refused;
}

/* A text to classify may stand in a file: *text is its content, or null where there is no such file. */
static int text_file(const char *name, char **text)
{
    struct stat is;
    if (strlen(name) > PATH_MAX || stat(name, &is) || !S_ISREG(is.st_mode))
        return 0;
    FILE *file = fopen(name, "rb");
    size_t cap = 0;
    errno = file ? 0 : errno;
    ssize_t n = file ? getdelim(text, &cap, '\0', file) : -1;
    if (n < 0)
        fprintf(stderr, "quipu: %s: cannot be read: %s\n", name, errno ? strerror(errno) : "it is empty");
    if (file)
        fclose(file);
    return n < 0 ? QP_INPUT : 0;
}

static int ask(cli *c, asker call)
{
    if (!c->queries == !c->n_args) {
        fprintf(stderr, "quipu: %s or --queries FILE was wanted, %s found\n",
                call == qp_index_classify ? "a TEXT, a FILE" : "a QUESTION", c->queries ? "both were" : "neither was");
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
                                 .label = c->label,
                                 .deadline_ms = (double)c->deadline,
                                 .watch = session_watch(c)};
    if (call == qp_index_ask && !c->json && !c->extract && c->writer && isatty(STDOUT_FILENO)) {
        s.options.token = on_token;
        s.options.watch.user = &s; /* progress and warnings do not look at it */
    }
    if (c->run && !(s.run = fopen(c->run, "wb"))) {
        fprintf(stderr, "quipu: %s: cannot be written: %s\n", c->run, strerror(errno));
        qp_index_close(s.index);
        return QP_INPUT;
    }
    qp_err err = {0};
    char *whole = NULL; /* of a file */
    int result = c->queries ? ask_file(&s) : call == qp_index_classify ? text_file(c->args[0], &whole) : 0;
    if (!c->queries && !result && ask_one(&s, NULL, whole ? whole : c->args[0], &err))
        result = session_fail(err.code, &err);
    free(whole);
    bool lost = s.run && ferror(s.run);
    if (s.run && (fclose(s.run) || lost) && !result) {
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

int run_classify(cli *c)
{
    return ask(c, qp_index_classify);
}
