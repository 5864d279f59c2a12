/* Rankings whose scores do not compare, by turns: the first of each, then the second of each. */
#include "op/idmap.h"
#include "op/ops.h"

enum { MOST = 64 };

typedef struct turns_opt {
    int64_t k;
} turns_opt;

static const qp_opt opts[] = {{"k", "how many nodes, and edges, stay; 0 = all", QP_INT, offsetof(turns_opt, k), "0", 0,
                               1e9, NULL},
                              {0}};

static qp_list by_turns(qp_query *q, const qp_list *list, int n, uint32_t k)
{
    qp_idmap seen = qp_idmap_in(q->mem);
    uint32_t most = 0, kept = 0;
    size_t all = 0;
    for (int i = 0; i < n; i++) {
        most = list[i].n > most ? list[i].n : most;
        all += list[i].n;
    }
    qp_hit *out = qp_new(q->mem, qp_hit, all + 1);
    for (uint32_t rank = 0; out && rank < most; rank++)
        for (int i = 0; out && i < n; i++) {
            bool added;
            if (rank >= list[i].n)
                continue;
            if (!qp_idmap_put(&seen, list[i].at[rank].id, 0, &added)) {
                out = NULL;
            } else if (added) {
                out[kept] = list[i].at[rank];
                out[kept].score = 1 / (1 + (float)kept);
                kept++;
            }
        }
    if (!out)
        qp_oom(&q->err);
    return (qp_list){out, !out ? 0 : k && k < kept ? k : kept};
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    uint32_t k = (uint32_t)((const turns_opt *)opt)->k;
    qp_list nodes[MOST], edges[MOST];
    for (int i = 0; i < n_in; i++) {
        nodes[i] = in[i].nodes;
        edges[i] = in[i].edges;
    }
    return (qp_set){.nodes = by_turns(q, nodes, n_in, k), .edges = by_turns(q, edges, n_in, k)};
}

const qp_op qp_op_turns = {
    .name = "turns",
    .help =
        "rankings by turns: the first of each set, then the second of each, what is there already left out; scores are "
        "1/rank",
    .source = "LightRAG, merging of the passages of its levels",
    .opts = opts,
    .opt_size = sizeof(turns_opt),
    .in_min = 1,
    .in_max = MOST,
    .run = run,
};

qp_set qp_turns(qp_query *q, const qp_set *in, int n, uint32_t k)
{
    return qp_run(q, &qp_op_turns, in, n, &(turns_opt){k});
}
