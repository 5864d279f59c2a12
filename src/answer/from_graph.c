#include "answer/from_graph.h"

#include "answer/grammar.h"
#include "op/describe.h"
#include "op/op.h"
#include "op/prompt.h"

enum { MOST = 64, CANDIDATES = 10 };

typedef struct telling {
    qp_query *q;
    qp_str graph;
    qp_buf text;
    qp_citation cited[MOST];
    qp_str without[MOST];
    uint32_t n, n_without;
} telling;

static qp_str candidates(qp_query *q, qp_list nodes)
{
    qp_buf names = {0};
    qp_about about;
    for (uint32_t i = 0; i < nodes.n && i < CANDIDATES; i++)
        if (!q->graph->about(q->graph->self, &nodes.at[i].id, 1, &about, q->mem, &q->err))
            qp_buf_fmt(&names, "%s%.*s", i ? ", " : "", (int)about.name.n, about.name.at);
    qp_str out = names.oom ? (qp_str){0} : qp_arena_str(q->mem, qp_buf_view(&names));
    if (!out.at)
        qp_oom(&q->err);
    qp_buf_free(&names);
    return out;
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
static qp_str fact_of(qp_str graph, qp_str name)
{
    while (graph.at && graph.n && name.n) {
        qp_str line = qp_str_split(graph, '\n', &graph);
        bool head = qp_str_starts(line, name) && qp_str_starts(qp_str_slice(line, name.n, line.n), QP_STR(" -> "));
        bool tail = qp_str_ends(line, name) && qp_str_ends(qp_str_slice(line, 0, line.n - name.n), QP_STR(" -> "));
        if (head || tail || qp_str_eq(line, name))
            return line;
    }
    return (qp_str){"", 0};
}

static qp_id node_of(telling *t, qp_str name)
{
    const qp_view *g = t->q->graph;
    qp_id id = QP_NO_ID;
    g->find(g->self, t->q->scope, &name, 1, &id, &t->q->err);
    return id;
}

static void tell(telling *t, qp_str name)
{
    if (!name.n || t->n == MOST || t->n_without == MOST)
        return;
    qp_str fact = fact_of(t->graph, name);
    qp_id node = fact.n ? node_of(t, name) : QP_NO_ID;
    if (t->text.n)
        qp_buf_text(&t->text, ", ");
    qp_buf_str(&t->text, name);
    if (node == QP_NO_ID) {
        t->without[t->n_without++] = name;
        return;
    }
    t->cited[t->n] = (qp_citation){.n = t->n + 1, .node = node, .quote = fact, .supported = true};
    qp_buf_fmt(&t->text, " [%u]", ++t->n);
}

static void write(telling *t, qp_set evidence, const qp_answer_options *o, qp_answer *answer)
{
    qp_query *q = t->q;
    const qp_field fields[] = {{"question", q->text},
                               {"candidates", candidates(q, evidence.nodes)},
                               {"graph", t->graph}};
    qp_str prompt = qp_prompt(q, o->prompt, "graph-answer.txt", fields, 3);
    const char *grammar = qp_answer_grammar(q, o);
    if (q->err.code != QP_OK)
        return;
    qp_str said =
        qp_write(q, prompt, (qp_sampling){.max_tokens = o->answer_tokens, .seed = o->seed, .grammar = grammar});
    answer->prompt_tokens = qp_tokens(q, prompt);
    answer->answer_tokens = qp_tokens(q, said);
    for (qp_str rest = said; rest.at && rest.n && q->err.code == QP_OK;) {
        qp_str line = qp_str_trim(qp_str_split(rest, '\n', &rest));
        while (line.n && (*line.at == '-' || *line.at == '*' || *line.at == ' '))
            line = qp_str_slice(line, 1, line.n);
        tell(t, line);
    }
}

qp_code qp_answer_from_graph(qp_query *q, qp_set evidence, const qp_answer_options *o, qp_answer *answer, qp_err *err)
{
    telling *t = qp_new(q->mem, telling, 1);
    if (!t)
        return qp_oom(err);
    *answer = (qp_answer){0};
    t->q = q;
    t->graph = cut(q, qp_describe(q, q->extracted), o->context_tokens);
    write(t, evidence, o, answer);
    answer->text = t->text.oom ? (qp_str){0} : qp_arena_str(q->mem, qp_buf_view(&t->text));
    if (!answer->text.at)
        qp_oom(&q->err);
    qp_buf_free(&t->text);
    answer->citations = t->cited;
    answer->n_citations = t->n;
    answer->without = t->without;
    answer->unsupported = t->n_without;
    return q->err.code == QP_OK ? QP_OK : qp_fail(err, q->err.code, "%s", q->err.message);
}
