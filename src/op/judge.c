/* A writer reads facts and keeps those that help: AGRAG's triple filter, HippoRAG 2's recognition memory. */
#include "op/choose.h"
#include "op/ops.h"

typedef struct judge_opt {
    int64_t k;
    const char *prompt;
} judge_opt;

static const qp_opt opts[] = {{"k", "how many are kept at most; 0: as many as help", QP_INT, offsetof(judge_opt, k),
                               "0", 0, 1000, NULL},
                              {"prompt", "a file with {question}, {items} and {k}; not set: prompts/facts.txt", QP_TEXT,
                               offsetof(judge_opt, prompt), NULL, 0, 0, NULL},
                              {0}};

/* In the order they came in: the writer says which, not how near. */
static qp_list kept(qp_query *q, qp_list edges, const uint32_t *chosen, uint32_t n)
{
    qp_hit *hit = qp_new(q->mem, qp_hit, n + 1u);
    uint32_t count = 0;
    if (!hit)
        qp_oom(&q->err);
    for (uint32_t i = 0; hit && i < edges.n; i++)
        for (uint32_t j = 0; j < n; j++)
            if (chosen[j] == i)
                hit[count++] = edges.at[i];
    return (qp_list){hit, count};
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const judge_opt *o = opt;
    qp_set out = in[0];
    qp_list edges = out.edges;
    (void)n_in;
    if (!q->writer || !edges.n)
        return out;
    qp_str *text = qp_new(q->mem, qp_str, edges.n);
    const qp_id *ids = qp_list_ids(q, edges);
    if (!text || !ids || q->graph->text(q->graph->self, QP_TRIPLE, ids, edges.n, text, q->mem, &q->err)) {
        qp_oom(&q->err);
        return (qp_set){0};
    }
    const qp_choice choice = {.prompt = o->prompt,
                              .standard = "facts.txt",
                              .k = o->k ? (uint32_t)o->k : edges.n,
                              .none = true};
    uint32_t n;
    const uint32_t *chosen = qp_choose(q, &choice, text, edges.n, &n);
    out.edges = chosen ? kept(q, edges, chosen, n) : (qp_list){0};
    return out;
}

const qp_op qp_op_judge = {
    .name = "judge",
    .help = "of a set's edges those that the writer finds useful for the question; without a writer all",
    .source = "AGRAG, equation 9; HippoRAG 2, recognition memory",
    .opts = opts,
    .opt_size = sizeof(judge_opt),
    .in_min = 1,
    .in_max = 1,
    .run = run,
    .needs = QP_LIKES_WRITER,
};

qp_set qp_judge(qp_query *q, qp_set facts)
{
    return qp_run(q, &qp_op_judge, &facts, 1, &(judge_opt){0});
}
