/* Quipu for authors of operators: the sets that flow, the views they read, the models they ask, the one door.
 *
 * A query belongs to one thread. Everything it makes lives in its arena until the query ends. Operators read sets and
 * return new ones; lists are best first, ties broken by the smaller id, so a rank is a position and a result does not
 * depend on the number of threads. The first error sticks to the query; operators then return empty sets, and the
 * caller looks once, at q->err.
 */
#ifndef QUIPU_OP_H
#define QUIPU_OP_H

#include "quipu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what flows ---- */
typedef uint32_t qp_id; /* number of a node, or of an edge, in one snapshot */
#define QP_NO_ID UINT32_MAX

typedef struct qp_hit {
    qp_id id;                  /* node; in edge lists, edge */
    qp_id via;                 /* the edge it was reached by, or QP_NO_ID */
    float score;               /* higher is better; its scale is the operator's */
    const struct qp_hit *from; /* the hit it was reached from, or null */
} qp_hit;
typedef struct qp_list {
    const qp_hit *at;
    uint32_t n;
} qp_list;
typedef struct qp_set {
    qp_list nodes, edges, paths; /* a path is the chain of `from` of its last hit */
} qp_set;

/* ---- a graph to read. Calls are plural: a remote view pays one round trip a call. Any thread. ---- */
typedef enum qp_kind { QP_NODE, QP_EDGE, QP_TRIPLE } qp_kind; /* a triple is an edge, told with its ends */
#define QP_CONTAINS "contains" /* the type of the edges from an entity to the passages that it stands in */
#define QP_SYNONYM "synonym"   /* ... between entities of like meaning; the weight is their cosine */
typedef enum qp_direction { QP_BOTH, QP_OUT, QP_IN } qp_direction;

typedef struct qp_walk { /* which edges count */
    uint64_t types;      /* bit t: edges of type t; ~0 = all */
    qp_direction direction;
    bool across; /* also edges between a passage and an entity (`contains`), and those of a synonym */
} qp_walk;

typedef struct qp_sparse { /* a text as terms that a model weights: ids rise, weights are finite and above 0 */
    const uint32_t *term;
    const float *weight;
    uint32_t n;
} qp_sparse;

typedef struct qp_token_rows { /* vectors of a text's tokens, each of unit length, one after the other */
    const float *at;
    uint32_t n;
} qp_token_rows;

typedef struct qp_probe {   /* what is looked for */
    qp_str text;            /* for lexical indices */
    const float *vector;    /* for dense ones: dim floats, unit length */
    const qp_sparse *terms; /* for learned sparse ones */
    const float *head;      /* for attention heads: the question's output of one head, head_dim floats, ... */
    uint32_t head_number;   /* ... and which head */
    const qp_token_rows
        *tokens; /* for late interaction: of the question, token_dim floats each; centroids looked at for each, ... */
    uint32_t probes, candidates; /* ... passages scored by centroids; 0: PLAID's for so many results */
    float threshold; /* a centroid that no token is as near to is left out of the first scores; 0: PLAID's */
    uint32_t dim;
    bool exact;            /* dense, late interaction: scan, do not use an approximate index */
    const uint64_t *allow; /* bit per node: those a filter lets through; null: all */
    float k1, b;           /* BM25; 0 with 0: the defaults (1.2, .75) */
} qp_probe;

typedef struct qp_adj { /* neighbours of n nodes, row i at [start[i], start[i+1]) */
    uint32_t n;
    const uint32_t *start;
    const qp_id *node; /* rising within a row; each neighbour once, never the node itself */
    const qp_id *edge; /* one edge that joins them (the smallest id) */
} qp_adj;

typedef struct qp_arcs { /* the neighbours of all nodes: of v, node[start[v]] .. node[start[v + 1] - 1], rising */
    uint32_t n;
    const uint64_t *start;
    const qp_id *node;
} qp_arcs;

typedef struct qp_parts { /* communities, found as the index was made; n is 0 where there are none */
    uint32_t n, n_parts;
    const uint32_t *part;   /* n: of each node; part 0 is the largest */
    const uint32_t *start;  /* n_parts + 1 */
    const uint32_t *member; /* part p has member[start[p]] .. member[start[p + 1] - 1], rising */
} qp_parts;

typedef struct qp_stops {  /* where random walks ended, made as the index was; n is 0 where there are none */
    double alpha, epsilon; /* they stopped with alpha at each step; enough for this relative error */
    uint32_t n;
    const uint64_t *start; /* n + 1 */
    const qp_id *stop; /* of v's walks: stop[start[v]] .. stop[start[v + 1] - 1]; QP_NO_ID: at a node without arcs */
} qp_stops;

typedef struct qp_about { /* what a person is shown of a node; strings live as long as the view */
    qp_str name;          /* the chunk's or entity's own id, unique: "paper.md#3" */
    qp_str document;      /* document id; n == 0 for a node without one */
    qp_str title, heading;
    uint32_t page;     /* 1-based; 0 = none */
    uint64_t from, to; /* bytes in the document's extracted text */
    qp_str meta;       /* of the document: a JSON object; or empty */
} qp_about;

typedef struct qp_link { /* what a person is shown of an edge */
    qp_id from, to;
    qp_str type;
    float weight;
    qp_str text; /* what its file says of it besides, "key: value" lines; often empty */
} qp_link;

typedef struct qp_view {
    void *self;
    uint32_t nodes;  /* node ids are [0, nodes): chunks of documents, then entities of knowledge graphs */
    uint32_t entity; /* the first entity; nodes if there is none */
    uint32_t edges;
    uint32_t dim;             /* of node.dense; 0 = no vectors */
    uint32_t terms;           /* of node.splade: term ids are below it; 0 = no learned terms */
    uint32_t heads, head_dim; /* of node.head and edge.head; 0 = none */
    uint32_t token_dim;       /* of node.colbert; 0 = no vectors of tokens */
    /* Best k of an index. "node.": passages, and entities where an index holds no passages; "entity.": entities alone.
     * "node.dense" (inner product of unit vectors), "node.bm25", "node.tfidf" (with the statistics of what is
     * searched), "node.doc2query" (BM25 over passages with the questions written for them), "node.colbert" (sum over
     * the question's tokens of the nearest one's product, of passages alone), "node.splade" (inner product of learned
     * term weights, which are kept to 1/4096); of edges "edge.dense" (their type as text), "triple.dense"; cosine of
     * one attention head: "node.head" (entities, where there are any), "edge.head", where the first edge of a type
     * stands for its equals. Equals come in order of id. Fewer if fewer match; indices of terms return only nodes with
     * a term of the probe. */
    qp_code (*search)(void *, const char *index, const qp_probe *, uint32_t k, qp_list *, qp_arena *, qp_err *);
    qp_code (*adjacent)(void *, const qp_id *, uint32_t n, qp_walk, qp_adj *, qp_arena *, qp_err *);
    /* All edges of n nodes: row i as above, but a neighbour as often as an edge joins it, each with its edge. */
    qp_code (*incident)(void *, const qp_id *, uint32_t n, qp_walk, qp_adj *, qp_arena *, qp_err *);
    /* The edges with both ends among n nodes, self-loops none, of the walk's types in whichever direction; ids of nodes
     * rise, each once, and those of *m edges come rising. */
    qp_code (*between)(void *, const qp_id *, uint32_t n, qp_walk, qp_id **edge, uint32_t *m, qp_arena *, qp_err *);
    /* The same as adjacent for the whole graph, without copying where the walk is all types both ways; without the
     * edges. */
    qp_code (*arcs)(void *, qp_walk, qp_arcs *, qp_arena *, qp_err *);
    /* Of the graph of all types, both ways, not across. Arrays live as long as the view. */
    qp_code (*parts)(void *, qp_parts *, qp_err *);
    qp_code (*stops)(void *, qp_stops *, qp_err *);
    /* Distinct neighbours over the walked types, self-loops none, both directions if the walk says so. */
    qp_code (*degree)(void *, const qp_id *, uint32_t n, qp_walk, uint32_t *out, qp_err *);
    /* What a node is found by, and what models read: title, heading path and text, one a line (qp_indexed_text); the
     * last about.to - about.from bytes are the chunk's own text. Of an edge: its type, then what its file says of it, a
     * line each; of a triple: "head -> type -> tail; key: value". Of an entity: its name, then what is said of it. */
    qp_code (*text)(void *, qp_kind, const qp_id *, uint32_t n, qp_str *out, qp_arena *, qp_err *);
    /* n x dim floats of "node.dense", "edge.dense", "triple.dense", unit length; what has no vector gives zeros. Of
     * "node.head" and "edge.head": n x heads x head_dim, not of unit length. */
    qp_code (*vectors)(void *, const char *index, const qp_id *, uint32_t n, float *out, qp_err *);
    qp_code (*about)(void *, const qp_id *, uint32_t n, qp_about *out, qp_arena *, qp_err *);
    qp_code (*link)(void *, const qp_id *, uint32_t n, qp_link *out, qp_err *);
    /* Entities by exact name, in the graph of one question (scope: its id) or the shared one (""); QP_NO_ID: none. */
    qp_code (*find)(void *, qp_str scope, const qp_str *name, uint32_t n, qp_id *out, qp_err *);
    /* The entities of one question's own graph: `n` from `first` on; n is 0 where it has none. */
    qp_code (*scope)(void *, qp_str scope, qp_id *first, uint32_t *n, qp_err *);
    /* "cites,ref" or "*" to bits; an unknown type is QP_INPUT and names the ones there are. */
    qp_code (*types)(void *, const char *names, uint64_t *bits, qp_err *);
    /* Where operators keep what they made of the whole graph, for the next question on it; null: nowhere. */
    struct qp_shelf *shelf;
} qp_view;

/* ---- a model to ask. A null function is a thing this model cannot do. Any thread. ---- */
typedef enum qp_role { QP_PASSAGE, QP_QUERY } qp_role; /* some embedders prefix the two differently */

typedef struct qp_sampling {
    uint32_t max_tokens;
    float temperature; /* 0: greedy */
    float top_p;       /* 0 or 1: off */
    uint64_t seed;
    const char *grammar;     /* GBNF, or null */
    const char *json_schema; /* or null */
    const char *const *stop; /* stop words */
    uint32_t n_stop;
    bool (*token)(void *user, const char *text, size_t n); /* streaming: false stops; or null */
    void *user;
    volatile const int *cancel; /* or null */
} qp_sampling;

typedef struct qp_message { /* role: "system", "user", "assistant" */
    const char *role;
    qp_str text;
} qp_message;

typedef struct qp_text_span { /* bytes of a text, by its number */
    uint32_t text, from, to;
} qp_text_span;

typedef struct qp_model {
    void *self;
    const char *name;
    const char *digest;       /* of weights and settings: the key of cached vectors */
    uint32_t dim, width;      /* of an embedding; of a latent */
    uint32_t heads, head_dim; /* of attend: query heads of the last layer, and floats of each; 0 without attend */
    uint32_t terms;           /* of weigh: ids are below it */
    uint32_t token_dim;       /* of tokens; 0 without */
    uint32_t max_tokens;      /* longest input; what is longer is cut */
    uint32_t at_once;         /* calls of generate that may be under way together, of a service; 0: one */
    /* n x dim floats, unit length. Of a writer the mean over tokens of its last layer; null where it is a service. */
    qp_code (*embed)(void *, qp_role, const qp_str *text, uint32_t n, float *out, qp_err *);
    /* The same vectors of passages to `out`, and in the same pass to `of_spans` (m x dim) those of parts of them: the
     * mean over the vectors of the tokens whose word begins in [from, to), unit length, zeros where none does or is
     * read (late chunking: Guenther et al., arXiv:2409.04701). Spans come in order of their texts. Null where a vector
     * is no mean over tokens, or tokens cannot be told. */
    qp_code (*embed_spans)(void *, const qp_str *text, uint32_t n, const qp_text_span *, uint32_t m, float *out,
                           float *of_spans, qp_err *);
    /* Vectors of each text's tokens, special ones too, of passages all but punctuation (ColBERT: Khattab, Zaharia,
     * SIGIR 2020, 3.2): rows of token_dim floats in the arena. Null where tokens cannot be told. */
    qp_code (*tokens)(void *, qp_role, const qp_str *text, uint32_t n, qp_token_rows *out, qp_arena *, qp_err *);
    /* GEAR's head vectors: the attention output of each head of the last layer, before the output projection. n x
     * (heads x head_dim) floats, heads end to end, not normalised. Of a decoder at the last token, of an encoder the
     * mean over tokens (GEAR, III-A, leaves it open). They are softmax(Q K^T / sqrt d) V: with grouped queries, heads
     * that share V are still apart. */
    qp_code (*attend)(void *, qp_role, const qp_str *text, uint32_t n, float *out, qp_err *);
    /* Learned sparse terms of each text, in the arena (SPLADE: Formal, Piwowarski, Clinchant, SIGIR 2021). */
    qp_code (*weigh)(void *, qp_role, const qp_str *text, uint32_t n, qp_sparse *out, qp_arena *, qp_err *);
    /* n x width: the cross-encoder's [CLS] latent of (query, text) before the head. */
    qp_code (*latent)(void *, qp_str query, const qp_str *text, uint32_t n, float *out, qp_err *);
    /* The classification head's last two layers (dense + tanh, projection) on n latents. */
    qp_code (*head)(void *, const float *latent, uint32_t n, float *score, qp_err *);
    /* Scores alone, for models that give no latent (HTTP). Where latent and head exist, this is head(latent). */
    qp_code (*rank)(void *, qp_str query, const qp_str *text, uint32_t n, float *score, qp_err *);
    qp_code (*generate)(void *, const qp_message *, uint32_t n, const qp_sampling *, qp_str *out, qp_arena *, qp_err *);
    /* Tokens of each text, special ones not counted. */
    qp_code (*count)(void *, const qp_str *text, uint32_t n, uint32_t *tokens, qp_err *);
    void (*close)(void *);
} qp_model;

/* ---- one question ---- */
typedef struct qp_memo qp_memo; /* latents and more by (question, node): computed once, whoever asks */
typedef struct qp_trace qp_trace;
typedef struct qp_trained qp_trained; /* what was trained on an index, by name */

typedef struct qp_summary { /* for the question, of a hit and what is around it */
    qp_id node;
    qp_str text;
} qp_summary;

typedef struct qp_query {
    qp_str text;
    const qp_view *graph;
    const qp_model *embedder, *ranker, *writer, *sparse, *attention; /* null: not there */
    qp_trained *trained;                                             /* null: nothing */
    const char *note; /* what who asks should know of the result, "untrained: ..."; null: nothing */
    qp_arena *mem;
    qp_memo *memo;               /* null: the query makes one for itself */
    qp_trace *trace;             /* null: nothing is traced */
    qp_walk walk;                /* set by a method's `edges` and `direction` options */
    const uint64_t *allow;       /* metadata filter: only these nodes may be returned or walked to; null: all */
    const float *vector;         /* of text; made on first use by qp_query_vector */
    const qp_sparse *terms;      /* of text; made on first use by qp_query_terms */
    const float *heads;          /* of text; made on first use by qp_query_heads */
    const qp_token_rows *tokens; /* of text; made on first use by qp_query_tokens */
    double deadline;             /* qp_now_ms() after which operators stop; 0: none */
    volatile const int *cancel;
    int threads;            /* that an operator may use at once, where others do not ask beside it; 0: one */
    const qp_str *entities; /* names that the question starts from, as given; link turns them into nodes */
    uint32_t n_entities;
    qp_str scope;              /* whose own graph is walked: the question's id; empty: the shared one */
    qp_list started;           /* where a method on a graph started */
    qp_set extracted;          /* the subgraph it looked at, nodes and edges */
    qp_str answer;             /* what a method answered by itself, an answer a line; empty: nothing */
    uint32_t prompt_tokens;    /* of what the writer was asked for that answer */
    uint32_t answer_tokens;    /* of all that it wrote for it */
    qp_str report;             /* what a writer said of the community around it; empty: nothing */
    const qp_summary *summary; /* of hits, in their order (operator summarise) */
    uint32_t n_summary;
    bool summaries_alone;    /* they stand for the hits' texts in what a writer reads */
    uint32_t context_tokens; /* of what it would give a writer to read; 0: not counted */
    uint32_t model_passes;   /* cross-encoder passes so far */
    uint32_t paths_cut;      /* paths so far that could have gone on, had the budget not been spent */
    int depth;               /* of nested qp_run */
    qp_err err;              /* sticky */
} qp_query;

/* ---- options: one table per operator serves pipelines, command line, HTTP, Python and the manual ---- */
typedef enum qp_type {
    QP_BOOL,
    QP_INT,
    QP_FLOAT,
    QP_TEXT,
    QP_ENUM
} qp_type; /* bool, int64_t, double, const char *x2 */
typedef struct qp_opt {
    const char *name, *help;
    qp_type type;
    size_t offset;        /* in the options struct: bool, int64_t, double, const char *, const char * */
    const char *standard; /* the default, as text; null: not set (zero) */
    double min, max;      /* for numbers, both included */
    const char *choices;  /* for QP_ENUM: "a|b|c" */
} qp_opt;

#define QP_NEEDS_EMBEDDER 1u
#define QP_NEEDS_RANKER 2u
#define QP_NEEDS_WRITER 4u
#define QP_NEEDS_SPARSE 8u
#define QP_NEEDS_ATTENTION 16u
#define QP_LIKES_WRITER 32u /* opened where one was named, and done without where none was */

typedef struct qp_op { /* operators, methods and user pipelines are all this */
    const char *name, *help;
    const char *source; /* "FastInsight, 3.3, Algorithm 2" */
    const qp_opt *opts; /* ends with a null name */
    size_t opt_size;
    int in_min, in_max; /* sets it reads; checked when a pipeline is loaded */
    qp_set (*run)(qp_query *, const qp_set *in, int n_in, const void *opt); /* null for a loaded pipeline: */
    const void *self;                  /* its steps, walked by qp_run; null for the built-in ones */
    unsigned needs;                    /* QP_NEEDS_*: models that are opened before it runs */
    unsigned (*asks)(const void *opt); /* the same where it depends on the options; null: needs */
} qp_op;

/* The only door to an operator: tests the sticky error, the deadline and the arity, then times and traces. */
qp_set qp_run(qp_query *, const qp_op *, const qp_set *in, int n_in, const void *opt);

/* Fills an options struct with the defaults, then sets each KEY=VALUE; unknown keys and values out of range are
 * QP_INPUT, with the nearest name. Texts are copied into the arena. */
qp_code qp_options_fill(const qp_op *, const qp_setting *, size_t n, void *opt, qp_arena *, qp_err *);

/* The query's vector (dim of the embedder), unit length, made once; null after an error. */
const float *qp_query_vector(qp_query *);
/* The outputs of the attention heads for the question (heads x head_dim of the view), made once; null after an
 * error. */
const float *qp_query_heads(qp_query *);
/* The vectors of the query's tokens, made once; null after an error. */
const qp_token_rows *qp_query_tokens(qp_query *);
/* The query's learned terms, made once; null after an error. */
const qp_sparse *qp_query_terms(qp_query *);

/* ---- the operators as C calls; each is one qp_run. Manuals: quipu ops NAME. ---- */
qp_set qp_search(qp_query *, const char *index, uint32_t k);                               /* O_vs */
qp_set qp_fuse(qp_query *, qp_set a, qp_set b, const char *how, float weight, uint32_t k); /* "rrf" | "minmax" */
qp_set qp_mix(qp_query *, qp_set a, qp_set b, float weight); /* a by weight of its scores, the rest of b's (min-max) */
qp_set qp_hop(qp_query *, qp_set, uint32_t hops);            /* O_gs: new neighbours, nearest first */
qp_set qp_hop_until(qp_query *, qp_set, uint32_t hops, uint32_t most); /* no hop more once it has found as many */
qp_set qp_score(qp_query *, qp_set);                                   /* bi-encoder */
qp_set qp_rerank(qp_query *, qp_set);                                  /* O_m: cross-encoder */
qp_set qp_granker(qp_query *, qp_set, float alpha, float scale);    /* O_gm; scale: of the degree, 1 is the paper's */
qp_set qp_stex(qp_query *, qp_set, float beta);                     /* O_vgs */
qp_set qp_link_entities(qp_query *);                                /* where the question starts */
qp_set qp_ppr_from(qp_query *, qp_set, double alpha, uint32_t top); /* personalised PageRank; alpha: starting again */
qp_set qp_ppr_by_score(qp_query *, qp_set, double alpha, uint32_t top); /* ... from where scores are high more often */
qp_set qp_rwr_from(qp_query *, qp_set, double alpha, uint32_t top, uint64_t seed); /* random walks with restart */
qp_set qp_induce_set(qp_query *, qp_set);                                          /* and the edges between its nodes */
qp_set qp_paths_through(qp_query *, qp_set starts, qp_set sub, const char *kind, uint32_t hops, uint32_t budget);
qp_set qp_blend(qp_query *, uint32_t k); /* passages by (cosine + BM25 / largest BM25) / 2: AGRAG's hybrid retrieval */
qp_set qp_near_facts(qp_query *,
                     uint32_t k); /* edges: those nearest to the question, by vectors of triples or of their parts */
qp_set qp_judge(qp_query *, qp_set facts);     /* the edges that the writer finds useful; without one all */
qp_set qp_steiner_through(qp_query *, qp_set); /* a cheap tree through its nodes and the ends of its edges */
/* MCMI: grown by what is worth more than it costs, to `most` nodes (0: as many as pay); influence null: all alike */
qp_set qp_enrich(qp_query *, qp_set sub, const qp_set *influence, uint32_t most);
qp_set qp_ends(qp_query *, qp_set facts, const char *weight, uint32_t k); /* "same" | "mean" | "rare"; k = 0: all */
qp_set qp_gather(qp_query *, qp_set entities, uint32_t k);                /* the passages they stand in; k = 0: all */
qp_set qp_balance(qp_query *, qp_set, double factor);                     /* passages' scores times the factor */
qp_set qp_vote(qp_query *, uint32_t k);                                   /* GEAR: what the attention heads vote for */
/* by inner product + weight x the score of "bm25" or "tfidf" */
qp_set qp_concat(qp_query *, const char *index, double weight, uint32_t depth, uint32_t k);
/* With the edges around each, of the "index" or of the pool as a "set". */
qp_set qp_ego_set(qp_query *, qp_set chosen, qp_set pool, const char *of, uint32_t most);
qp_set qp_join(qp_query *, qp_set a, qp_set b); /* a, then what b adds */
qp_set qp_relations(qp_query *, qp_set, const char *by,
                    uint32_t k); /* its edges, or those at its nodes: "degree" | "links" */
qp_set qp_units(qp_query *, qp_set,
                const char *count); /* passages its entities, or edges, were read from: "all" | "first" */
qp_set qp_budget(qp_query *, qp_set, const char *of, uint32_t tokens); /* the first "nodes" | "edges" that fit */
qp_set qp_turns(qp_query *, const qp_set *in, int n, uint32_t k);      /* rankings by turns */
qp_set qp_flow(qp_query *, qp_set nodes, double alpha, double theta, uint32_t k); /* PathRAG: paths between its nodes */
qp_set qp_minus(qp_query *, qp_set a, qp_set b);
qp_set qp_top(qp_query *, qp_set, uint32_t k);

#ifdef __cplusplus
}
#endif
#endif
