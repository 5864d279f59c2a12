#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define COMMON "tdqCF"
#define MODELS "EKWPA"

const verb verbs[] = {
    {"index", "SOURCE...",
     "Add or update files, folders, a data set folder, or - for standard input; never repeats work.",
     "sojSEPAWyYM" COMMON, 1, -1, run_index},
    {"delete", "DOC...",
     "Remove documents by id or path, graphs by the path of the file, or data set folder, that they were read from; "
     "leaves the index that never held them.",
     "sjEPAW" COMMON, 1, -1, run_delete},
    {"ask", "QUESTION", "Answer with citations; needs no server and no key.", "smokwjxQrecDl" MODELS COMMON, 0, 1,
     run_ask},
    {"retrieve", "QUESTION", "Ranked evidence, no answer.", "smokwjxQrD" MODELS COMMON, 0, 1, run_retrieve},
    {"classify", "TEXT|FILE",
     "The label of a text, out of those that the documents found for it carry (records with a field label).",
     "smokwjxQrDL" MODELS COMMON, 0, 1, run_classify},
    {"eval", "DATASET",
     "Methods against judgements: of a data set folder (queries.jsonl, qrels.tsv), or HippoRAG's question file.",
     "smokjrRHnB" MODELS COMMON, 1, 1, run_eval},
    {"methods", "[NAME]", "The methods, or the manual of one.", "j" COMMON, 0, 1, run_methods},
    {"ops", "[NAME]", "The operators that methods and pipelines are made of, or the manual of one.", "j" COMMON, 0, 1,
     run_ops},
    {"model", "list | pull NAME... | import PATH [NAME]", "Models: registered, fetched, converted from safetensors.",
     "oj" COMMON, 1, -1, run_model},
    {"stats", "", "What is in the store.", "sj" COMMON, 0, 0, run_stats},
    {"check", "", "Is the store whole: every checksum, every reference.", "sj" COMMON, 0, 0, run_check},
    {"bench", "", "Time the kernels on a generated index: -o passages=1000000 -o edges=10000000 -o dim=0.", "oj" COMMON,
     0, 0, run_bench},
    {"train", "lesegr", "Fit what a method learns to labelled questions: lesegr, the graph encoder of cg-rag.",
     "soTjEP" COMMON, 1, 1, run_train},
    {"help", "[NAME]", "How to use quipu, or one verb, method or operator; `quipu help man` prints the man page.",
     "j" COMMON, 0, 1, run_help},
    {0},
};

const verb *verb_find(const char *name)
{
    for (const verb *v = verbs; v->name; v++)
        if (strcmp(v->name, name) == 0)
            return v;
    return NULL;
}

/* Where the verb stands in argv: flags may come before it, so their values are stepped over. 0: there is none. */
static int verb_position(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-')
            return i;
        if (strchr(argv[i], '='))
            continue;
        for (const flag *f = flags; f->name; f++) {
            bool is_long = strcmp(argv[i], "--") > 0 && strcmp(argv[i] + 2, f->name) == 0;
            bool is_short = f->shorter && argv[i][1] == f->letter && !argv[i][2];
            if (f->arg && (is_long || is_short))
                i++;
        }
    }
    return 0;
}

int flushed(int result)
{
    if ((fflush(stdout) || ferror(stdout)) && !result) {
        fprintf(stderr, "quipu: standard output cannot be written: %s\n", strerror(errno));
        result = QP_INPUT;
    }
    return result;
}

int main(int argc, char **argv)
{
    int at = verb_position(argc, argv);
    if (!at) {
        cli none = {0};
        bool version = argc > 1 && strcmp(argv[1], "--version") == 0;
        bool help = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
        if (version)
            puts("quipu " QUIPU_VERSION);
        if (version || help)
            return flushed(version ? 0 : run_help(&none));
        fprintf(stderr, "quipu: a verb was wanted (index, ask, retrieve, eval, ...)%s%s%s; `quipu help` lists them\n",
                argc > 1 ? ", '" : "", argc > 1 ? one_line(argv[1]) : "", argc > 1 ? "' was found" : "");
        return QP_USAGE;
    }
    const verb *v = verb_find(argv[at]);
    if (!v) {
        fprintf(stderr, "quipu: there is no verb '%s'; `quipu help` lists them\n", one_line(argv[at]));
        return QP_USAGE;
    }
    for (int i = at; i > 1; i--) /* the verb to argv[1], the flags before it after it */
        argv[i] = argv[i - 1];
    argv[1] = argv[0];
    cli c = {0};
    int code = flags_parse(&c, v, argc - 1, argv + 1);
    if (code)
        return code;
    print_colors(&c);
    return flushed(v->run(&c));
}
