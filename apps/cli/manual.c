#include "cli.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

static void flag_lines(const char *letters)
{
    for (const flag *f = flags; f->name; f++) {
        if (f->letter != 'h' && !strchr(letters, f->letter))
            continue;
        char name[64], brief[8] = "    ";
        if (f->shorter)
            snprintf(brief, sizeof brief, "-%c, ", f->letter);
        snprintf(name, sizeof name, "%s--%s%s%s", brief, f->name, f->arg ? " " : "", f->arg ? f->arg : "");
        printf("  %-26s %s\n", name, f->help);
    }
}

/* The language of --where, as src/store/where.h has it. */
static const char *const filter[] = {
    "FIELD = VALUE   FIELD != VALUE   FIELD < VALUE   FIELD <= VALUE   FIELD > VALUE   FIELD >= VALUE",
    "FIELD ~ 'part'   FIELD in (VALUE, ...)   FIELD exists   not X   X and Y   X or Y   ( X )",
    "FIELD: id, title, path, format, language, or what a document's JSON or front matter has: year, author.name,",
    "    file.mtime; with other characters between backquotes. VALUE: 'text', a number, true, false, null.",
    "Numbers compare as numbers, all else as text, so dates are '2020-05-17'. A list passes if one of its items does.",
    "A field that is not there passes no test, so `not` of a test on it holds.",
    "Example: --where \"year >= 2001 and (lang in ('en', 'de') or not lang exists) and title ~ 'graph'\"",
    NULL};

/* What --embedder, --reranker, --writer and --sparse take, and what they read from the environment. */
static const char *const models[] = {
    "MODEL: a name of `quipu model list`, a .gguf file, none, or a service:",
    "    openai:NAME[@URL] (embeds, writes)   ollama:NAME[@URL] (embeds, writes)",
    "    jina:NAME[@URL] (embeds, reranks)    cohere:NAME[@URL] (reranks)",
    "Keys: OPENAI_API_KEY, OLLAMA_API_KEY, JINA_API_KEY, COHERE_API_KEY, else QUIPU_API_KEY.",
    "Patience: QUIPU_HTTP_TIMEOUT (60 s), QUIPU_HTTP_DEADLINE (180 s), QUIPU_HTTP_CONCURRENCY (4).",
    "`model pull`: QUIPU_HUB, HF_TOKEN.",
    "QUIPU_PRECISION: int8 (default; embedders and rerankers in numbers of eight bits where the processor multiplies",
    "    them, some twice as fast, cosines above .999) or f32.",
    NULL};

/* What `index --json` prints, as qp_index_report has it. */
static const char *const report[] = {
    "added, changed, same, failed: documents; failed: that could not be read.",
    "chunks, edges: in the index now, edges between chunks; edges_unknown: left out, an end of theirs is not there.",
    "triples, entities: read in this run, of knowledge graphs, or drawn out of texts; `quipu stats` has what is there.",
    "embedded: texts of chunks, entities and relations that got vectors in this run; weighed, attended, tokenised,",
    "    expanded: chunks that got learned terms, outputs of heads, vectors of tokens, questions of a writer.",
    "writer_asked, writer_remembered: chunks that a writer was asked the relations of, and whose answers were there;",
    "    writer_dropped: lines that were no relation of two given entities; writer_unanswered: of those asked,",
    "    the next run asks again.",
    "seconds: read, embed, publish.",
    NULL};

/* The options of `model import`, as src/model/import.c has them. */
static const char *const importing[] = {
    "type         of the weights that are written (f32|bf16|f16|q8_0); default bf16",
    "pooling      what makes one vector of a text's (mean|cls|splade); not set: as the checkpoint says",
    "segments     cross-encoders: 1 if the passage's tokens get segment 1, else 0; not set: as the checkpoint says",
    "license      noted in the file; not set: as the checkpoint says", NULL};

static const char exits[] = "0 fine; 1 usage; 2 input or option refused; 3 nothing found; 4 store damaged or busy;\n"
                            "5 model or provider failed; 70 a bug of ours; 130 stopped by Ctrl-C or a deadline";

static void overview(void)
{
    printf("Quipu %s: retrieval over graphs, from one local program.\n\n"
           "  quipu index ./papers\n  quipu ask \"Which methods rerank with the graph?\"\n\nverbs:\n",
           QUIPU_VERSION);
    for (const verb *v = verbs; v->name; v++)
        printf("  %-10s %s\n", v->name, v->help);
    printf("\n`quipu help VERB` shows one, also of a method or an operator. Exit codes: %s.\n", exits);
}

/* ---- methods and operators, from the catalogue ---- */

/* The catalogue, see qp_catalogue; free it. Null after one line on stderr. */
static yyjson_doc *catalogue_read(const char *what)
{
    char *json = NULL;
    qp_err err = {0};
    if (qp_catalogue(what, &json, &err)) {
        session_fail(err.code, &err);
        return NULL;
    }
    yyjson_doc *doc = yyjson_read(json, strlen(json), 0);
    qp_free(json);
    return doc;
}

static void describe_options(yyjson_val *op)
{
    yyjson_val *options = yyjson_obj_get(op, "options"), *o;
    size_t i, n;
    if (yyjson_arr_size(options))
        printf("\noptions (-o KEY=VALUE):\n");
    yyjson_arr_foreach(options, i, n, o) {
        printf("  %-12s %s", member(o, "name"), member(o, "help"));
        if (*member(o, "choices"))
            printf(" (%s)", member(o, "choices"));
        yyjson_val *min = yyjson_obj_get(o, "min"), *max = yyjson_obj_get(o, "max");
        if (yyjson_is_num(min) && yyjson_is_num(max))
            printf(" [%g..%g]", yyjson_get_num(min), yyjson_get_num(max));
        printf("%s%s\n", *member(o, "default") ? "; default " : "", member(o, "default"));
    }
}

static void describe(yyjson_val *op)
{
    printf("%s%s%s - %s\n", bold(), member(op, "name"), plain(), member(op, "help"));
    if (*member(op, "paper"))
        printf("source: %s\n", member(op, "paper"));
    yyjson_val *needs = yyjson_obj_get(op, "needs"), *need;
    size_t i, n;
    yyjson_arr_foreach(needs, i, n, need)
        printf("%s%s%s", i ? ", " : "needs: ", yyjson_get_str(need), i + 1 == n ? "\n" : "");
    describe_options(op);
}

static void measure_lines(void)
{
    yyjson_doc *doc = catalogue_read("measures");
    yyjson_val *measure;
    size_t i, n;
    printf("\nmeasures (-o metrics=NAME,NAME@RANK,...):\n");
    yyjson_arr_foreach(yyjson_doc_get_root(doc), i, n, measure)
        printf("  %-15s %s\n", member(measure, "name"), member(measure, "help"));
    yyjson_doc_free(doc);
}

static void put_json(yyjson_val *value)
{
    char *text = yyjson_val_write(value, 0, NULL);
    puts(text ? text : "");
    qp_free(text);
}

static int catalogue(cli *c, const char *what)
{
    yyjson_doc *doc = catalogue_read(what);
    if (!doc)
        return QP_BUG;
    yyjson_val *root = yyjson_doc_get_root(doc), *op, *found = NULL;
    size_t i, n;
    yyjson_arr_foreach(root, i, n, op) {
        if (c->n_args && strcmp(member(op, "name"), c->args[0]) == 0)
            found = op;
        else if (!c->n_args && !c->json)
            printf("%s%-12s%s %s\n", bold(), member(op, "name"), plain(), member(op, "help"));
    }
    int result = 0;
    if (c->n_args && !found) {
        fprintf(stderr, "quipu: there is no '%s'; `quipu %s` lists what there is\n", one_line(c->args[0]), what);
        result = QP_INPUT;
    } else if (c->json) {
        put_json(found ? found : root);
    } else if (found) {
        describe(found);
    }
    yyjson_doc_free(doc);
    return result;
}

static void part(const char *title, const char *const *lines)
{
    printf("\n%s:\n", title);
    for (; *lines; lines++)
        printf("  %s\n", *lines);
}

void manual_verb(const verb *v)
{
    printf("usage: quipu %s [FLAG...]%s%s\n\n%s\n\nflags:\n", v->name, *v->args ? " " : "", v->args, v->help);
    flag_lines(v->flags);
    if (strchr(v->flags, 'm'))
        printf("\n`quipu methods` lists the methods, `quipu methods NAME` the options of one.\n");
    if (strcmp(v->name, "index") == 0 || strcmp(v->name, "eval") == 0 || strcmp(v->name, "bench") == 0 ||
        strcmp(v->name, "train") == 0) {
        yyjson_doc *doc = catalogue_read(v->name);
        describe_options(yyjson_arr_get_first(yyjson_doc_get_root(doc)));
        yyjson_doc_free(doc);
    }
    if (strcmp(v->name, "eval") == 0)
        measure_lines();
    if (strcmp(v->name, "model") == 0)
        part("options of import (-o KEY=VALUE); a GGUF file is taken as it is, without", importing);
    if (strcmp(v->name, "index") == 0)
        part("report (--json)", report);
    if (strchr(v->flags, 'w'))
        part("filters (--where EXPR)", filter);
    if (strchr(v->flags, 'W'))
        part("models (--embedder, --reranker, --writer, --sparse)", models);
}

int run_methods(cli *c)
{
    return catalogue(c, "methods");
}

int run_ops(cli *c)
{
    return catalogue(c, "ops");
}

/* ---- the man page ---- */

static void roff(const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", stdout);
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
    }
    putchar('\n');
}

static void roff_catalogue(const char *what, const char *title)
{
    yyjson_doc *doc = catalogue_read(what);
    yyjson_val *op, *o;
    size_t i, n, j, m;
    printf(".SH %s\n", title);
    yyjson_arr_foreach(yyjson_doc_get_root(doc), i, n, op) {
        printf(".SS %s\n", member(op, "name"));
        roff(member(op, "help"));
        if (*member(op, "paper")) {
            printf(".br\n");
            roff(member(op, "paper"));
        }
        yyjson_arr_foreach(yyjson_obj_get(op, "options"), j, m, o) {
            printf(".TP\n.B %s\n", member(o, "name"));
            roff(member(o, "help"));
            if (*member(o, "choices"))
                printf("One of %s.\n", member(o, "choices"));
            if (*member(o, "default"))
                printf("Default: %s.\n", member(o, "default"));
        }
    }
    yyjson_doc_free(doc);
}

static void roff_part(const char *title, const char *const *lines)
{
    printf(".SH %s\n.nf\n", title);
    for (; *lines; lines++)
        roff(*lines);
    printf(".fi\n");
}

void manual_page(void)
{
    printf(".TH QUIPU 1 \"\" \"Quipu %s\" \"User Commands\"\n.SH NAME\nquipu \\- retrieval over graphs\n"
           ".SH SYNOPSIS\n.B quipu\n.I VERB\n[\\fIFLAG\\fR...] [\\fIARGUMENT\\fR...]\n.SH VERBS\n",
           QUIPU_VERSION);
    for (const verb *v = verbs; v->name; v++) {
        printf(".TP\n.B %s %s\n", v->name, v->args);
        roff(v->help);
    }
    printf(".SH FLAGS\n");
    for (const flag *f = flags; f->name; f++) {
        printf(".TP\n.B ");
        if (f->shorter)
            printf("\\-%c, ", f->letter);
        printf("\\-\\-%s%s%s\n", f->name, f->arg ? " " : "", f->arg ? f->arg : "");
        roff(f->help);
    }
    roff_part("FILTERS", filter);
    roff_part("MODELS", models);
    roff_part("IMPORTING MODELS", importing);
    roff_part("REPORT OF INDEX", report);
    roff_catalogue("index", "READING AND CUTTING");
    roff_catalogue("methods", "METHODS");
    roff_catalogue("ops", "OPERATORS");
    roff_catalogue("eval", "EVALUATION");
    roff_catalogue("measures", "MEASURES");
    roff_catalogue("train", "TRAINING");
    roff_catalogue("bench", "BENCHMARK");
    printf(".SH ENVIRONMENT\n.TP\n.B QUIPU_STORE\nthe index, where \\-s is not given\n"
           ".TP\n.B QUIPU_MODELS\nfolder of the models\n"
           ".TP\n.B QUIPU_SHARE\nfolder that is looked in first for prompts/, pipelines/ and models/\n.TP\n.B "
           "NO_COLOR\nno colours\n.SH EXIT STATUS\n");
    roff(exits);
}

/* The page of the method or operator that is asked for; false: there is none of this name. */
static bool manual_of(const char *what, const cli *c)
{
    const char *name = c->args[0];
    yyjson_doc *doc = catalogue_read(what);
    yyjson_val *op;
    size_t i, n;
    bool found = false;
    yyjson_arr_foreach(yyjson_doc_get_root(doc), i, n, op) {
        if (strcmp(member(op, "name"), name) == 0) {
            if (c->json)
                put_json(op);
            else
                describe(op);
            found = true;
        }
    }
    yyjson_doc_free(doc);
    return found;
}

/* {"name","args","help","flags":[{"name","arg","help"}]} */
static yyjson_mut_val *verb_json(yyjson_mut_doc *doc, const verb *v)
{
    yyjson_mut_val *out = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, out, "name", v->name);
    yyjson_mut_obj_add_str(doc, out, "args", v->args);
    yyjson_mut_obj_add_str(doc, out, "help", v->help);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, out, "flags");
    for (const flag *f = flags; f->name; f++) {
        if (f->letter != 'h' && !strchr(v->flags, f->letter))
            continue;
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_obj_add_str(doc, one, "name", f->name);
        yyjson_mut_obj_add_str(doc, one, "arg", f->arg ? f->arg : "");
        yyjson_mut_obj_add_str(doc, one, "help", f->help);
    }
    return out;
}

/* One verb; null: all of them. */
static int verbs_json(const verb *one)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *all = yyjson_mut_arr(doc);
    for (const verb *v = verbs; v->name && !one; v++)
        yyjson_mut_arr_append(all, verb_json(doc, v));
    yyjson_mut_doc_set_root(doc, one ? verb_json(doc, one) : all);
    char *text = yyjson_mut_write(doc, 0, NULL);
    puts(text ? text : "");
    qp_free(text);
    yyjson_mut_doc_free(doc);
    return 0;
}

int run_help(cli *c)
{
    const verb *asked = c->n_args ? verb_find(c->args[0]) : NULL;
    if (c->json && (asked || !c->n_args))
        return verbs_json(asked);
    if (!c->n_args) {
        overview();
        return 0;
    }
    if (strcmp(c->args[0], "man") == 0) {
        manual_page();
        return 0;
    }
    if (asked) {
        manual_verb(asked);
        return 0;
    }
    bool method = manual_of("methods", c);
    if ((method && c->json) || manual_of("ops", c) || method) /* JSON: one document */
        return 0;
    fprintf(
        stderr,
        "quipu: there is no verb, method or operator '%s'; `quipu help`, `quipu methods` and `quipu ops` list them\n",
        one_line(c->args[0]));
    return QP_INPUT;
}
