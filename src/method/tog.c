/* Think-on-Graph (Sun et al., ICLR 2024): the writer walks the graph. In each round it chooses relations that lead on
 * from where its paths stand, then entities that they lead to, and says whether what it has is enough.
 *
 * Reading: it walks within the PPR subgraph of the question's entities, as all of LEGO's modules do, not over all
 * triples; both choices are made under a grammar.
 */
#include <math.h>

#include "op/choose.h"
#include "method/first.h"
#include "method/methods.h"
#include "op/answers.h"
#include "op/beam.h"
#include "op/describe.h"
#include "op/eem.h"
#include "op/ops.h"

typedef struct tog_opt {
    int64_t width, depth, max_ent, window, top;
    double alpha;
    const char *edges, *example;
} tog_opt;

static const qp_opt opts[] = {
    {"width", "relations, and paths, kept in a round", QP_INT, offsetof(tog_opt, width), "3", 1, 1000, NULL},
    {"depth", "rounds at most", QP_INT, offsetof(tog_opt, depth), "3", 1, 16, NULL},
    {"max_ent", "nodes of the subgraph that it walks in", QP_INT, offsetof(tog_opt, max_ent), "1000", 1, 1e9, NULL},
    {"alpha", "of the PPR that makes it: probability of starting again", QP_FLOAT, offsetof(tog_opt, alpha), "0.15",
     1e-6, .999999, NULL},
    {"window", "items that the writer sees at a time", QP_INT, offsetof(tog_opt, window), "64", 2, 512, NULL},
    {"example", "an example for the prompts", QP_TEXT, offsetof(tog_opt, example), NULL, 0, 0, NULL},
    QP_EDGES_OPTION(tog_opt),
    {"top", "how many paths are returned", QP_INT, offsetof(tog_opt, top), "10", 1, 1e6, NULL},
    {0}};

/* The relation a path's last arc has, against its arrow "~relation". */
static qp_str relation_of(qp_query *q, const qp_hit *path)
{
    qp_link link;
    if (q->graph->link(q->graph->self, &path->via, 1, &link, &q->err))
        return (qp_str){"", 0};
    return link.from == path->from->id ? link.type : qp_arena_fmt(q->mem, "~%.*s", (int)link.type.n, link.type.at);
}

/* Marks the paths whose last relation was chosen. */
static bool choose_relations(qp_query *q, const tog_opt *o, const qp_hit *path, uint32_t n, bool *kept)
{
    qp_str *name = qp_new(q->mem, qp_str, n + 1u), *of = qp_new(q->mem, qp_str, n + 1u);
    uint32_t names = 0, n_chosen = 0;
    if (!name || !of) {
        qp_oom(&q->err);
        return false;
    }
    for (uint32_t i = 0; i < n && q->err.code == QP_OK; i++) {
        uint32_t at = 0;
        of[i] = relation_of(q, &path[i]);
        while (at < names && !qp_str_eq(name[at], of[i]))
            at++;
        if (at == names)
            name[names++] = of[i];
    }
    const qp_choice choice = {NULL, "lego-edge.txt", o->example, (uint32_t)o->width, (uint32_t)o->window, false};
    const uint32_t *chosen = qp_choose(q, &choice, name, names, &n_chosen);
    for (uint32_t i = 0; chosen && i < n; i++)
        for (uint32_t j = 0; j < n_chosen; j++)
            kept[i] |= qp_str_eq(of[i], name[chosen[j]]);
    return chosen;
}

/* Of the paths that are left, those whose ends were chosen, best first by the writer. */
static bool choose_ends(qp_query *q, const tog_opt *o, const qp_hit *path, uint32_t n, const bool *kept, float *score)
{
    qp_str *name = qp_new(q->mem, qp_str, n + 1u);
    uint32_t *at = qp_new(q->mem, uint32_t, n + 1u), m = 0, n_chosen = 0;
    if (!name || !at) {
        qp_oom(&q->err);
        return false;
    }
    for (uint32_t i = 0; i < n && q->err.code == QP_OK; i++) {
        qp_about about;
        score[i] = -INFINITY;
        if (!kept[i] || q->graph->about(q->graph->self, &path[i].id, 1, &about, q->mem, &q->err))
            continue;
        name[m] = about.name;
        at[m++] = i;
    }
    const qp_choice choice = {NULL, "lego-node.txt", o->example, (uint32_t)o->width, (uint32_t)o->window, false};
    const uint32_t *chosen = qp_choose(q, &choice, name, m, &n_chosen);
    for (uint32_t i = 0; chosen && i < n_chosen; i++)
        score[at[chosen[i]]] = (float)(n_chosen - i);
    return chosen;
}

static bool judge(qp_query *q, void *ctx, const qp_hit *path, uint32_t n, float *score)
{
    const tog_opt *o = ctx;
    bool *kept = qp_new(q->mem, bool, n + 1u);
    qp_str *text = qp_new(q->mem, qp_str, n + 1u);
    uint32_t m = 0;
    if (!kept || !text) {
        qp_oom(&q->err);
        return false;
    }
    if (!choose_relations(q, o, path, n, kept) || !choose_ends(q, o, path, n, kept, score))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (score[i] > -INFINITY)
            text[m++] = qp_path_text(q, &path[i]);
    return q->err.code == QP_OK && !qp_agrees(q, NULL, "lego-enough.txt", text, m);
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const tog_opt *o = opt;
    qp_walk outer = q->walk;
    q->walk = qp_query_walk(q, o->edges, NULL);
    qp_set starts = n_in ? in[0] : qp_link_entities(q);
    qp_set sub = qp_join(q, starts, qp_ppr_from(q, starts, o->alpha, (uint32_t)o->max_ent));
    const qp_beam_how how = {.width = (uint32_t)o->width,
                             .hops = (uint32_t)o->depth,
                             .simple = true,
                             .prune = "none",
                             .judge = judge,
                             .ctx = (void *)(uintptr_t)opt};
    q->extracted = sub;
    qp_list paths = qp_beam_search(q, starts.nodes, sub, q->walk, &how);
    paths.n = qp_min(paths.n, o->top);
    q->context_tokens = qp_path_tokens(q, paths);
    q->walk = outer;
    return (qp_set){.nodes = qp_path_nodes(q, paths, (uint32_t)o->top), .paths = paths};
}

const qp_op qp_method_tog = {
    .name = "tog",
    .help = "the writer walks the graph: relations, then entities, until it says that it is enough (Think-on-Graph)",
    .source = "Sun et al., ICLR 2024; GEAR's and LEGO-GraphRAG's baseline",
    .opts = opts,
    .opt_size = sizeof(tog_opt),
    .in_max = 1,
    .run = run,
    .needs = QP_NEEDS_WRITER,
};
