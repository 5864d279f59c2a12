#include "answer/from_graph.h"

#include "answer/grammar.h"
#include "answer/naming.h"
#include "op/describe.h"
#include "op/op.h"
#include "op/prompt.h"

enum { CANDIDATES = 10 };

typedef struct shown {
    qp_query *q;
    qp_str graph; /* as the writer read it, a fact on each line */
} shown;

static qp_str kept(qp_query *q, qp_buf *text)
{
    qp_str out = text->oom ? (qp_str){0} : qp_arena_str(q->mem, qp_buf_view(text));
    if (!out.at)
        qp_oom(&q->err);
    qp_buf_free(text);
    return out;
}

static qp_str candidates(qp_query *q, qp_list nodes)
{
    qp_buf names = {0};
    qp_about about;
    for (uint32_t i = 0; i < nodes.n && i < CANDIDATES; i++)
        if (!q->graph->about(q->graph->self, &nodes.at[i].id, 1, &about, q->mem, &q->err))
            qp_buf_fmt(&names, "%s%.*s", i ? ", " : "", (int)about.name.n, about.name.at);
    return kept(q, &names);
}

/* The best edges, a line each under a line of their own; nothing of a method that did not rank them. */
static qp_str candidate_facts(qp_query *q, qp_list edges)
{
    qp_buf facts = {0};
    qp_str triple;
    bool ranked = edges.n && (edges.at[0].score != 0 || edges.at[edges.n - 1].score != 0);
    for (uint32_t i = 0; ranked && i < edges.n && i < CANDIDATES; i++)
        if (!q->graph->text(q->graph->self, QP_TRIPLE, &edges.at[i].id, 1, &triple, q->mem, &q->err))
            qp_buf_fmt(&facts, "%s%.*s\n", i ? "" : "Candidate facts:\n", (int)triple.n, triple.at);
    return kept(q, &facts);
}

/* Its first lines, those near the best nodes, as far as they cost no more than the budget. */
static qp_str cut(qp_query *q, qp_str graph, uint32_t budget)
{
    uint32_t tokens = qp_tokens(q, graph);
    size_t n = tokens > budget ? (size_t)((double)graph.n * budget / tokens) : graph.n;
    while (n < graph.n && n && graph.at[n] != '\n')
        n--;
    return qp_str_slice(graph, 0, n);
}

/* The first line with a node of this name; empty: none has. */
static qp_str fact_of(void *self, qp_str name, qp_id *node)
{
    shown *t = self;
    const qp_view *g = t->q->graph;
    for (qp_str rest = t->graph; rest.at && rest.n && name.n;) {
        qp_str line = qp_str_split(rest, '\n', &rest);
        bool head = qp_str_starts(line, name) && qp_str_starts(qp_str_slice(line, name.n, line.n), QP_STR(" -> "));
        bool tail = qp_str_ends(line, name) && qp_str_ends(qp_str_slice(line, 0, line.n - name.n), QP_STR(" -> "));
        if (head || tail || qp_str_eq(line, name)) {
            g->find(g->self, t->q->scope, &name, 1, node, &t->q->err);
            return line;
        }
    }
    return (qp_str){0};
}

static qp_str write(shown *t, qp_set evidence, const qp_answer_options *o, qp_answer *answer)
{
    qp_query *q = t->q;
    const qp_field fields[] = {{"question", q->text},
                               {"candidates", candidates(q, evidence.nodes)},
                               {"candidate_facts", candidate_facts(q, evidence.edges)},
                               {"graph", t->graph}};
    qp_str prompt = qp_prompt(q, o->prompt, "graph-answer.txt", fields, sizeof fields / sizeof *fields);
    const char *grammar = qp_answer_grammar(q, o);
    if (q->err.code != QP_OK)
        return (qp_str){0};
    qp_str said =
        qp_write(q, prompt, (qp_sampling){.max_tokens = o->answer_tokens, .seed = o->seed, .grammar = grammar});
    answer->prompt_tokens = qp_tokens(q, prompt);
    answer->answer_tokens = qp_tokens(q, said);
    return said;
}

qp_code qp_answer_from_graph(qp_query *q, qp_set evidence, const qp_answer_options *o, qp_answer *answer, qp_err *err)
{
    shown t = {q, cut(q, qp_describe(q, q->extracted), o->context_tokens)};
    qp_naming *names = qp_naming_new(q, fact_of, &t);
    *answer = (qp_answer){0};
    if (names) {
        qp_naming_add_lines(names, write(&t, evidence, o, answer));
        qp_naming_end(names, answer);
    }
    return q->err.code == QP_OK ? QP_OK : qp_fail(err, q->err.code, "%s", q->err.message);
}
