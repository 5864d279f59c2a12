/* What a writer's context holds: the head of a list, as many of it as fit. */
#include "op/budget.h"

#include "op/counts.h"
#include "op/ops.h"

typedef struct budget_opt {
    int64_t tokens;
    const char *of;
} budget_opt;

static const qp_opt opts[] = {{"tokens", "of the texts of what stays; 0 = no limit", QP_INT,
                               offsetof(budget_opt, tokens), "4000", 0, 1e9, NULL},
                              {"of", "what is cut", QP_ENUM, offsetof(budget_opt, of), "nodes", 0, 0, "nodes|edges"},
                              {0}};

static uint32_t words_in(qp_str text)
{
    uint32_t n = 0;
    bool inside = false;
    for (size_t i = 0; i < text.n; i++) {
        bool blank = (unsigned char)text.at[i] <= ' ';
        n += !blank && !inside;
        inside = !blank;
    }
    return n + n / 3;
}

qp_code qp_count_tokens(const qp_model *counter, const qp_str *text, uint32_t n, uint32_t *tokens, qp_err *err)
{
    if (counter && counter->count)
        return counter->count(counter->self, text, n, tokens, err);
    for (uint32_t i = 0; i < n; i++)
        tokens[i] = words_in(text[i]);
    return QP_OK;
}

/* Read a block at a time: what is far beyond the budget is not looked at. The first one always stays. */
static qp_list cut(qp_query *q, qp_kind kind, qp_list list, uint64_t budget)
{
    enum { BLOCK = 32 };
    const qp_id *ids = qp_list_ids(q, list);
    uint64_t used = 0;
    for (uint32_t from = 0, n; ids && from < list.n; from += n) {
        uint32_t tokens[BLOCK];
        n = list.n - from < BLOCK ? list.n - from : BLOCK;
        if (!qp_query_counts(q, kind, ids + from, n, tokens))
            return (qp_list){0};
        for (uint32_t i = 0; i < n; i++) {
            used += tokens[i];
            if (used > budget && from + i)
                return (qp_list){list.at, from + i};
        }
    }
    return list;
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    const budget_opt *o = opt;
    qp_set out = in[0];
    (void)n_in;
    if (!o->tokens)
        return out;
    if (*o->of == 'n')
        out.nodes = cut(q, QP_NODE, out.nodes, (uint64_t)o->tokens);
    else
        out.edges = cut(q, QP_TRIPLE, out.edges, (uint64_t)o->tokens);
    return out;
}

const qp_op qp_op_budget = {
    .name = "budget",
    .help = "the first nodes, or edges, whose texts together have at most so many tokens",
    .source = "LightRAG, GraphRAG: context budgets",
    .opts = opts,
    .opt_size = sizeof(budget_opt),
    .in_min = 1,
    .in_max = 1,
    .run = run,
};

qp_set qp_budget(qp_query *q, qp_set a, const char *of, uint32_t tokens)
{
    return qp_run(q, &qp_op_budget, &a, 1, &(budget_opt){tokens, of});
}
