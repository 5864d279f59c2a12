/* The command line: verbs, their flags, what they print. It stands on the public header alone. */
#ifndef QP_CLI_H
#define QP_CLI_H

#include <quipu.h>

enum { MOST_SETTINGS = 64, MOST_RUNS = 1024 };

/* What the flags said, with the defaults filled in. Strings are argv's, the environment's or the config file's. */
typedef struct cli {
    const char *store, *method, *where, *queries, *label, *run, *html, *config, *dataset;
    const char *embedder, *reranker, *writer, *sparse, *attention;
    qp_setting settings[MOST_SETTINGS]; /* -o, in order */
    size_t n_settings;
    const char *runs[MOST_RUNS]; /* --with-run, in order */
    size_t n_runs;
    long top, threads, seed, sample, bootstrap, context, length, deadline, memory;
    bool json, explain, quiet, no_color, strict, extract, dry_run;
    double price_embed, price_in, price_out; /* of a million tokens */
    char *const *args;                       /* what is no flag */
    int n_args;
} cli;

typedef struct verb {
    const char *name, *args, *help; /* args: as shown in the usage line */
    const char *flags;              /* letters of the flags it takes, see flags.c */
    int args_min, args_max;         /* -1: any number */
    int (*run)(cli *);              /* returns the exit code */
} verb;

extern const verb verbs[]; /* ends with a null name */
const verb *verb_find(const char *name);

/* The exit code, or that of a standard output that cannot be written, which is said. */
int flushed(int result);

/* ---- flags.c ---- */
typedef struct flag {
    int letter; /* its short form where it is printable and `shorter`, and its key in verb.flags */
    bool shorter;
    const char *name, *arg; /* long name; its argument's name, or null */
    const char *help;
} flag;
extern const flag flags[]; /* ends with a null name */

/* Parses argv after the verb. Exit code 0, or 1 after one line on stderr. */
int flags_parse(cli *, const verb *, int argc, char **argv);

/* ---- the verbs ---- */
int run_index(cli *);
int run_delete(cli *);
int run_ask(cli *);
int run_retrieve(cli *);
int run_classify(cli *);
int run_eval(cli *);
int run_methods(cli *);
int run_ops(cli *);
int run_model(cli *);
int run_stats(cli *);
int run_check(cli *);
int run_bench(cli *);
int run_train(cli *);
int run_help(cli *);

/* ---- session.c: the index, progress, errors ---- */
/* Opens the index as the flags say; the exit code after one line on stderr. */
int session_open(const cli *, bool create, qp_index **);
/* Progress on stderr where it is a terminal (else a line per stage), warnings, Ctrl-C. */
qp_watch session_watch(const cli *);
/* Prints the error as one line on stderr and returns its exit code. */
int session_fail(qp_code, const qp_err *);

/* ---- print.c: for people ---- */
void print_colors(const cli *); /* decides once, by --no-color, NO_COLOR and the terminal */
const char *bold(void);
const char *dim(void);
const char *plain(void);
/* Text wrapped to the terminal's width, each line indented; white space runs become one blank. At most `lines`. */
void print_wrapped(const char *text, size_t n, int indent, int lines);
/* As it is, but for control characters: a document's stay out of the terminal. */
void print_plain(const char *text, size_t n);
int print_width(void);
/* For a message, which is one line: the text's beginning, control characters as ?; until the next call. */
const char *one_line(const char *text);

/* ---- manual.c ---- */
void manual_verb(const verb *); /* to stdout */
void manual_page(void);         /* the man page, roff, to stdout */

#endif
