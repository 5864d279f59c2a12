/* Quipu: retrieval over graphs. What a program needs: open, index, retrieve, ask, evaluate, close.
 *
 * Threads. A qp_index is shared: retrieve and ask may run in many threads at once, each sees the snapshot that was
 * current when it began. One writer at a time, in all processes together: a second one gets QP_STORE ("busy").
 * Everything returned through a pointer belongs to the caller until the matching _free; nothing here prints or exits.
 */
#ifndef QUIPU_H
#define QUIPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QUIPU_VERSION "0.1.0"

/* ---- errors: the codes are the command line's exit codes ---- */
typedef enum qp_code {
    QP_OK = 0,
    QP_USAGE = 1,    /* the call itself is wrong */
    QP_INPUT = 2,    /* an input or an option was refused */
    QP_NONE = 3,     /* nothing found */
    QP_STORE = 4,    /* the store is damaged, busy, full or not there */
    QP_MODEL = 5,    /* a model or a provider failed, or none is there that can do this */
    QP_BUG = 70,     /* ours */
    QP_STOPPED = 130 /* cancelled, or the deadline passed */
} qp_code;

/* Zero it before the first call (qp_err err = {0}): the first error sticks, one that is there is kept. */
typedef struct qp_err {
    qp_code code;
    char message[1000]; /* one line: wanted, found, where, what to try */
} qp_err;

/* ---- bytes that somebody else owns, not terminated ---- */
typedef struct qp_str {
    const char *at;
    size_t n;
} qp_str;

typedef struct qp_arena qp_arena; /* memory of one question; see base/arena.h */

/* ---- progress and cancelling ----
 * Called from the thread that made the call, at most ten times a second, and once at the end of each stage. */
typedef struct qp_progress {
    const char *stage;    /* "read", "link", "embed", "publish", "retrieve", ... */
    const char *item;     /* the file or document at hand, or null */
    uint64_t done, total; /* items of this stage; total 0 = not known */
    double seconds;       /* since the stage began */
} qp_progress;

typedef struct qp_watch {
    void (*progress)(void *user, const qp_progress *); /* or null */
    void (*warn)(void *user, const char *line);        /* a skipped file, an unknown id, ...; or null */
    volatile const int *cancel;                        /* set to non-zero (a signal handler may): QP_STOPPED */
    void *user;
} qp_watch;

/* ---- an index ---- */
typedef struct qp_index qp_index;

typedef struct qp_setting { /* one KEY=VALUE, as with -o */
    const char *key, *value;
} qp_setting;

typedef struct qp_open_options {
    const char *embedder, *ranker, *writer; /* model names, files or URLs; null: the store's own, else the default;
                                               "none" for none */
    const char *sparse;    /* the sparse encoder that weights terms for -m splade; null: the store's own, else none */
    const char *attention; /* the model whose attention heads vote for -m gear; null: the store's own, else none */
    int threads;           /* 0: one per core */
    uint64_t seed;
} qp_open_options;

/* Opens the index in the folder `dir`. With `create` a missing one is made at the first qp_index_add. Models are
 * loaded when they are first needed. */
qp_code qp_index_open(const char *dir, bool create, const qp_open_options *, qp_index **out, qp_err *);
void qp_index_close(qp_index *); /* takes null */

typedef struct qp_index_options {
    const qp_setting *settings; /* chunk=tokens|chars|whole, chunk_size, overlap, language, include, exclude, ... */
    size_t n_settings;
    bool strict;  /* a document that cannot be read ends the run */
    bool dry_run; /* read, cut, and count what the models would be given; keep nothing */
    qp_watch watch;
    uint32_t memory; /* MiB for sorting a graph's triples and edges, what is beyond lies on disk; 0: 512 */
} qp_index_options;

typedef struct qp_index_report {
    uint64_t documents_added, documents_changed, documents_same, documents_failed;
    uint64_t chunks, edges, edges_unknown;    /* in the index now; given edges whose ends are not there */
    uint64_t chunks_embedded;                 /* in this run: texts of chunks, entities, relations */
    uint64_t chunks_weighed;                  /* in this run: learned terms made by a sparse encoder */
    uint64_t chunks_attended;                 /* in this run: outputs of attention heads */
    uint64_t chunks_tokenised;                /* in this run: those whose tokens got vectors */
    uint64_t chunks_expanded;                 /* in this run: those the writer wrote questions for */
    uint64_t triples, entities;               /* read in this run, of knowledge graphs, or drawn out of texts */
    uint64_t writer_asked, writer_remembered; /* chunks the writer was asked about; whose answer was kept from before */
    uint64_t writer_unanswered;               /* of those asked: without relations until the next run */
    uint64_t writer_dropped;                  /* lines of its answers that were no relation of two given entities */
    uint64_t chunk_tokens, prompt_tokens;     /* of a dry run: what an embedder and a writer would read */
    double seconds_read, seconds_embed, seconds_publish;
} qp_index_report;

/* Adds or updates files, folders, data set folders ("-": standard input). Repeats no work. */
qp_code qp_index_add(qp_index *, const char *const *sources, size_t n, const qp_index_options *, qp_index_report *,
                     qp_err *);
/* Removes documents by id or path, and graphs by the path of the file, or data set folder, that they were read from.
 * *removed, where it is not null: how many documents and graphs that were. Unknown ones are QP_NONE, and then nothing is
 * removed. */
qp_code qp_index_delete(qp_index *, const char *const *documents, size_t n, const qp_watch *, uint64_t *removed,
                        qp_err *);

/* ---- questions. `*json` is malloc'ed text, freed with qp_free. ---- */
typedef struct qp_ask_options {
    const char *id;             /* the question's own id, given back as "_id"; or null */
    const char *method;         /* "fastinsight", "hybrid", ... or a pipeline's file. Null: fastinsight with
                                 * first=hybrid and mix=0.75 (models/README.md says why); hybrid without a reranker; lego:2
                                 * on a knowledge graph without documents */
    const qp_setting *settings; /* the method's options */
    size_t n_settings;
    const qp_str
        *entities; /* names of entities that the question starts from, in a knowledge graph; none: those it names */
    size_t n_entities;
    uint32_t top;            /* k; 0: 10 */
    const char *where;       /* metadata filter, or null */
    bool explain;            /* add the trace */
    bool extract;            /* ask: quote, do not write */
    uint32_t context_tokens; /* ask: budget of the context; 0: the default */
    uint32_t answer_tokens;  /* ask: longest answer; 0: the default */
    const char *label;       /* classify: the field of the metadata; null: "label" */
    double deadline_ms;      /* 0: none */
    /* ask: called as the answer is written; or null */
    void (*token)(void *user, const char *text, size_t n);
    qp_watch watch;
} qp_ask_options;

/* Retrieve: what a method finds. Ask: an answer made of that, with its sources. *json: the object that `quipu retrieve
 * --json` and `quipu ask --json` print. QP_NONE: nothing was found, and *json says so without hits; after any other error it
 * is null. QP_STOPPED: cancelled, or past the deadline. */
qp_code qp_index_retrieve(qp_index *, const char *question, const qp_ask_options *, char **json, qp_err *);
qp_code qp_index_ask(qp_index *, const char *question, const qp_ask_options *, char **json, qp_err *);
/* The label of a text, out of those that the documents found for it carry in their metadata: the writer's choice where
 * one was named, else the best passage's. The result of retrieve, with "label", "labels" [{label, score, id}] and
 * "writer". Without a method agrag, where the index has a graph. */
qp_code qp_index_classify(qp_index *, const char *text, const qp_ask_options *, char **json, qp_err *);
void qp_free(void *);

/* What is in the store, and whether it is whole (every checksum, every reference); QP_STORE if it is not. JSON. */
qp_code qp_index_stats(qp_index *, char **json, qp_err *);
qp_code qp_index_check(qp_index *, char **json, qp_err *);

/* ---- evaluation ---- */
typedef struct qp_eval_options {
    const char *methods; /* "vector,bm25,fastinsight", with options as name:key=value:key=value */
    const qp_setting *settings;
    size_t n_settings;
    uint32_t top;       /* depth of the runs; 0: 100 */
    uint32_t sample;    /* only this many questions, drawn with the seed; 0: all */
    uint32_t bootstrap; /* resamples; 0: 10,000 */
    uint64_t seed;
    const char *run_file;    /* TREC run out, or null ("%s" in it: the method's name) */
    const char *html;        /* report out, or null */
    const char *const *runs; /* TREC runs in, evaluated beside the methods */
    size_t n_runs;
    qp_watch watch;
} qp_eval_options;

/* Evaluates on a data set folder's queries.jsonl and qrels.tsv, over this index. JSON: {dataset, questions, ...,
 * methods: [{name, method, options, metrics: {"ndcg@10": {mean, low, high}, ...}, latency_ms: {stage: {p50, p95}},
 * model_passes, failures}], differences: [{a, b, metric, difference, low, high, p, p_holm}]}. */
qp_code qp_index_eval(qp_index *, const char *dataset, const qp_eval_options *, char **json, qp_err *);

/* An id as it stands in a TREC run file: white space of any kind is %20, % is %25, a control character %XX. malloc'ed,
 * freed with qp_free; null without memory. */
char *qp_run_id(const char *id);

/* ---- training ---- */
typedef struct qp_train_options {
    const qp_setting *settings; /* encoder=gt|gat|gcn, share, epochs, rate, ...: the catalogue's "train" */
    size_t n_settings;
    qp_watch watch; /* progress: an epoch each, told in `item` */
} qp_train_options;

/* Fits what a method learns (what: "lesegr", of cg-rag) to a data set folder's labelled questions; the weights go into
 * the index's folder, the best so far whenever there are better ones, and are used from then on. JSON: {encoder, file,
 * weights, fitted, held_back, without_labels, best, epochs: [{loss, hit@1, mrr, seconds}]}. QP_STOPPED: cancelled;
 * QP_MODEL: a loss that is no number. The best weights till then are kept in both cases. */
qp_code qp_index_train(qp_index *, const char *what, const char *dataset, const qp_train_options *, char **json,
                       qp_err *);

/* Times the kernels on an index generated with the seed, made in $TMPDIR and removed: passages, edges, words, dim,
 * runs, ... threads: of kernels that part their work; 0: one per core. JSON, to be freed with qp_free. */
qp_code qp_benchmark(const qp_setting *, size_t n, int threads, uint64_t seed, const qp_watch *, char **json, qp_err *);

/* ---- what there is ---- */
/* JSON: [{name, help, paper, reads, needs, options:[{name, help, type, default, min, max, choices}]}]; what =
 * "methods", "ops", or "index", "eval", "bench", "train": the settings of qp_index_add, qp_index_eval, qp_benchmark,
 * qp_train; needs: models, with the options as they are by themselves. what = "measures": [{name, help, definition,
 * paper, cut}], cut: it takes @RANK. */
qp_code qp_catalogue(const char *what, char **json, qp_err *);

/* ---- models ---- */
/* JSON list of the registry with what is on this machine. */
qp_code qp_model_list(char **json, qp_err *);
/* Fetches a registered model from its sources in order; resumed, verified by SHA-256, published by one rename. */
qp_code qp_model_pull(const char *name, const qp_watch *, qp_err *);
/* Converts a safetensors checkpoint (folder or file), or takes a GGUF, into the model folder under `name`. */
qp_code qp_model_import(const char *path, const char *name, const qp_setting *, size_t n, const qp_watch *, qp_err *);

#ifdef __cplusplus
}
#endif
#endif
