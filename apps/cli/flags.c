#include "cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* The one table of flags: parsing, help and the man page are made from it. */
const flag flags[] = {
    {'s', true, "store", "DIR", "the index (default: $QUIPU_STORE, else ./.quipu)"},
    {'m', true, "method", "NAME",
     "a method, or a pipeline's .yaml file; several for eval, with commas (default: what suits index and models)"},
    {'o', true, "option", "KEY=VALUE",
     "an option of the method; of index, eval, train and bench the options below; repeated"},
    {'k', true, "top", "N", "how many results (default 10; eval: depth of the runs, default 100)"},
    {'w', false, "where", "EXPR", "only documents whose metadata fit: \"year >= 2001 and title ~ 'graph'\""},
    {'j', false, "json", NULL, "one JSON document on stdout (NDJSON for many questions)"},
    {'x', false, "explain", NULL,
     "operator by operator: candidates, model passes, milliseconds, and why each hit is there"},
    {'Q', false, "queries", "FILE", "many questions: JSONL with _id and text"},
    {'r', false, "run", "FILE", "also write a TREC run file (eval: %s in the name is the method)"},
    {'R', false, "with-run", "FILE", "evaluate this TREC run beside the methods; repeated"},
    {'H', false, "html", "FILE", "also write the report as one self-contained page"},
    {'n', false, "sample", "N", "only N questions, drawn with the seed (default: all)"},
    {'B', false, "bootstrap", "N", "resamples for intervals and tests (default 10000)"},
    {'e', false, "extract", NULL, "quote the best sentences, do not write"},
    {'T', false, "dataset", "DIR", "a data set folder with the labelled questions"},
    {'c', false, "context", "TOKENS", "budget of the context a writer is given (default 1024)"},
    {'l', false, "length", "TOKENS", "longest answer (default 256)"},
    {'L', false, "label", "FIELD", "classify: the field of the metadata that holds a document's label (default label)"},
    {'D', false, "deadline", "MS", "give up after so many milliseconds"},
    {'S', false, "strict", NULL, "a document that cannot be read ends the run"},
    {'y', false, "dry-run", NULL,
     "index: read and cut, say what the models would be given and what it costs, keep nothing"},
    {'Y', false, "prices", "EMBED,ASK,ANSWER", "of a million tokens, for --dry-run (default 0,0,0)"},
    {'E', false, "embedder", "MODEL", "model that makes vectors; none for an index without (default: the index's own)"},
    {'K', false, "reranker", "MODEL", "cross-encoder (default: quipu-rerank-v1)"},
    {'P', false, "sparse", "MODEL", "sparse encoder: term weights for -m splade (default: the index's own, else none)"},
    {'A', false, "heads", "MODEL",
     "model whose attention heads vote for -m gear (default: the index's own, else none)"},
    {'W', false, "writer", "MODEL",
     "model that writes: answers, and what -o asks of one (default: none, answers are quoted; a method that is a "
     "writer, "
     "or needs one, takes the default of `quipu model list` for itself)"},
    {'t', false, "threads", "N", "threads (default: one per core)"},
    {'M', false, "memory", "MIB", "index: memory for sorting a graph; what is beyond lies on disk (default 512)"},
    {'d', false, "seed", "N", "seed of everything random (default 0)"},
    {'q', true, "quiet", NULL, "no progress, no warnings"},
    {'C', false, "no-color", NULL, "no colours (also: NO_COLOR set)"},
    {'F', false, "config", "FILE", "YAML with flags as keys: \"method: hybrid\"; flags given here win"},
    {'h', true, "help", NULL, "this help"},
    {0},
};

static const flag *flag_find(const char *name)
{
    for (const flag *f = flags; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

/* Where in the config file we are; a null path: on the command line. */
static struct {
    const char *path;
    size_t line;
} reading;

static int refuse(const char *what, const char *value, const char *wanted)
{
    fputs("quipu: ", stderr);
    if (reading.path)
        fprintf(stderr, "%s:%zu: ", reading.path, reading.line);
    fprintf(stderr, "%s: %s was wanted, '%s' was found\n", what, wanted, value);
    return reading.path ? QP_INPUT : QP_USAGE;
}

static int number(const char *name, const char *value, long least, long *out)
{
    char *end;
    errno = 0;
    *out = strtol(value, &end, 10);
    if (errno || *end || end == value || *out < least || *out > 0x7fffffff)
        return refuse(name, value,
                      least ? "a whole number from 1 to 2147483647" : "a whole number from 0 to 2147483647");
    return 0;
}

static int prices(cli *c, const char *value)
{
    int end = 0;
    if (sscanf(value, "%lf,%lf,%lf%n", &c->price_embed, &c->price_in, &c->price_out, &end) != 3 || value[end] ||
        !(c->price_embed >= 0 && c->price_in >= 0 && c->price_out >= 0))
        return refuse("--prices", value, "three numbers of at least 0, as 0.02,0.15,0.6,");
    return 0;
}

/* KEY=VALUE; the value may be empty, and may hold '='. The text is argv's or the config's, and is cut in place. */
static int setting(cli *c, const char *value)
{
    char *equals = strchr(value, '=');
    if (!equals || equals == value)
        return refuse("-o", value, "KEY=VALUE");
    if (c->n_settings == MOST_SETTINGS)
        return refuse("-o", value, "at most 64 options");
    *equals = '\0';
    c->settings[c->n_settings++] = (qp_setting){value, equals + 1};
    return 0;
}

static int with_run(cli *c, const char *value)
{
    if (c->n_runs == MOST_RUNS)
        return refuse("--with-run", value, "at most 1024 runs");
    c->runs[c->n_runs++] = value;
    return 0;
}

static int set(cli *c, const flag *f, const char *value)
{
    if (f->arg && !*value)
        return refuse(f->name, value, f->arg);
    switch (f->letter) {
    case 's': c->store = value; return 0;
    case 'm': c->method = value; return 0;
    case 'o': return setting(c, value);
    case 'k': return number("--top", value, 1, &c->top);
    case 'w': c->where = value; return 0;
    case 'j': c->json = true; return 0;
    case 'x': c->explain = true; return 0;
    case 'Q': c->queries = value; return 0;
    case 'r': c->run = value; return 0;
    case 'R': return with_run(c, value);
    case 'H': c->html = value; return 0;
    case 'n': return number("--sample", value, 1, &c->sample);
    case 'B': return number("--bootstrap", value, 1, &c->bootstrap);
    case 'T': c->dataset = value; return 0;
    case 'e': c->extract = true; return 0;
    case 'c': return number("--context", value, 1, &c->context);
    case 'l': return number("--length", value, 1, &c->length);
    case 'L': c->label = value; return 0;
    case 'D': return number("--deadline", value, 1, &c->deadline);
    case 'S': c->strict = true; return 0;
    case 'y': c->dry_run = true; return 0;
    case 'Y': return prices(c, value);
    case 'E': c->embedder = value; return 0;
    case 'K': c->reranker = value; return 0;
    case 'W': c->writer = value; return 0;
    case 'P': c->sparse = value; return 0;
    case 'A': c->attention = value; return 0;
    case 't': return number("--threads", value, 0, &c->threads);
    case 'M': return number("--memory", value, 1, &c->memory);
    case 'd': return number("--seed", value, 0, &c->seed);
    case 'q': c->quiet = true; return 0;
    case 'C': c->no_color = true; return 0;
    case 'F': c->config = value; return 0;
    default: return refuse("flag", f->name, "one that is handled");
    }
}

/* ---- the config file: a flat YAML mapping of flags ---- */

static int config_pair(cli *c, const char *key, const char *value)
{
    const flag *f = flag_find(key);
    if (!f || f->letter == 'F' || f->letter == 'h')
        return refuse("config", key, "a flag's long name without --");
    if (!f->arg && strcmp(value, "true") != 0)
        return strcmp(value, "false") == 0 ? 0 : refuse(key, value, "true or false");
    return set(c, f, value);
}

static int config_load(cli *c, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "quipu: %s: cannot be read: %s\n", path, strerror(errno));
        return QP_INPUT;
    }
    yaml_parser_t parser;
    static yaml_document_t doc; /* the flags point into it: it lives as long as the program */
    yaml_parser_initialize(&parser);
    yaml_parser_set_input_file(&parser, file);
    int code = 0;
    if (!yaml_parser_load(&parser, &doc)) {
        fprintf(stderr, "quipu: %s:%zu: no YAML: %s\n", path, parser.problem_mark.line + 1,
                parser.problem ? parser.problem : "unknown");
        code = QP_INPUT;
    } else {
        yaml_node_t *root = yaml_document_get_root_node(&doc);
        reading.path = path;
        reading.line = 1;
        if (root && root->type != YAML_MAPPING_NODE)
            code = refuse("config", "something else", "a mapping of flags");
        for (yaml_node_pair_t *p = root && !code ? root->data.mapping.pairs.start : NULL;
             p && !code && p < root->data.mapping.pairs.top; p++) {
            yaml_node_t *k = yaml_document_get_node(&doc, p->key), *v = yaml_document_get_node(&doc, p->value);
            reading.line = k->start_mark.line + 1;
            if (k->type != YAML_SCALAR_NODE || v->type != YAML_SCALAR_NODE)
                code = refuse("config", "something nested", "one value for each flag");
            else
                code = config_pair(c, (char *)k->data.scalar.value, (char *)v->data.scalar.value);
        }
        reading.path = NULL;
    }
    yaml_parser_delete(&parser);
    fclose(file);
    return code;
}

/* ---- argv ---- */

enum { MOST_FLAGS = 48 };

/* getopt's tables for one verb. */
static void tables(const verb *v, struct option *longs, char *shorts)
{
    int n = 0;
    for (const flag *f = flags; f->name && n < MOST_FLAGS - 1; f++) {
        if (f->letter != 'h' && !strchr(v->flags, f->letter))
            continue;
        longs[n++] = (struct option){f->name, f->arg ? required_argument : no_argument, NULL, f->letter};
        if (f->shorter) {
            *shorts++ = (char)f->letter;
            if (f->arg)
                *shorts++ = ':';
        }
    }
    longs[n] = (struct option){0};
    *shorts = 0;
}

static const flag *flag_of(int letter)
{
    for (const flag *f = flags; f->name; f++)
        if (f->letter == letter)
            return f;
    return NULL;
}

/* Says what getopt stumbled over: of "-dash.txt" the letter, which it leaves within its argument. */
static int refuse_flag(const verb *v, int letter, char **argv)
{
    const char *last = argv[optind - 1], brief[] = {'-', (char)optopt, 0};
    bool is_long = letter == ':' || !optopt || (strncmp(last, "--", 2) == 0 && strchr(last, '='));
    const char *wrong = letter == ':' ? "wants a value" : is_long && optopt ? "takes no value" : "is no flag here";
    fprintf(stderr, "quipu %s: '%s' %s; `quipu help %s` lists them\n", v->name, is_long ? last : brief, wrong, v->name);
    return QP_USAGE;
}

static int each_flag(cli *c, const verb *v, int argc, char **argv, bool apply)
{
    struct option longs[MOST_FLAGS];
    char shorts[2 * MOST_FLAGS + 2] = ":";
    tables(v, longs, shorts + 1);
    optind = 0;
    opterr = 0;
    for (int letter; (letter = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (letter == '?' || letter == ':')
            return refuse_flag(v, letter, argv);
        if (letter == 'h') {
            manual_verb(v);
            exit(flushed(0));
        }
        if (letter == 'F')
            c->config = optarg;
        int code = apply ? set(c, flag_of(letter), optarg) : 0;
        if (code)
            return code;
    }
    c->args = argv + optind;
    c->n_args = argc - optind;
    return 0;
}

int flags_parse(cli *c, const verb *v, int argc, char **argv)
{
    const char *store = getenv("QUIPU_STORE");
    c->store = store && *store ? store : ".quipu";
    int code = each_flag(c, v, argc, argv, false); /* the config file comes first, so that flags win */
    if (!code && c->config)
        code = config_load(c, c->config);
    if (!code)
        code = each_flag(c, v, argc, argv, true);
    if (code)
        return code;
    if (c->n_args < v->args_min || (v->args_max >= 0 && c->n_args > v->args_max)) {
        bool unquoted = c->n_args > 1 && strcmp(v->args, "QUESTION") == 0;
        fprintf(stderr, "quipu %s: %s was wanted, %d argument%s found; %s`quipu help %s` shows how\n", v->name,
                *v->args ? v->args : "no argument", c->n_args, c->n_args == 1 ? " was" : "s were",
                unquoted ? "put it between quotes; " : "", v->name);
        return QP_USAGE;
    }
    return 0;
}
