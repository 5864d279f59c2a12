#include "answer/facts.h"

#include "op/budget.h"
#include "op/eem.h"

bool qp_has_passages(const qp_query *q, qp_set evidence)
{
    return evidence.nodes.n && evidence.nodes.at[0].id < q->graph->entity;
}

typedef struct facts {
    qp_query *q;
    const qp_model *counter;
    qp_buf text;
    uint32_t left;
} facts;

/* False where it does not fit any more. */
static bool add(facts *f, qp_str line)
{
    uint32_t tokens = 0;
    if (f->q->err.code != QP_OK || qp_count_tokens(f->counter, &line, 1, &tokens, &f->q->err) || tokens > f->left)
        return false;
    f->left -= tokens;
    qp_buf_str(&f->text, line);
    qp_buf_char(&f->text, '\n');
    return true;
}

static void add_paths(facts *f, qp_list paths)
{
    qp_str *line = qp_new(f->q->mem, qp_str, paths.n + 1u);
    uint32_t n = 0, used = 0, tokens;
    for (; line && n < paths.n; n++, used += tokens) { /* those that fit, before they are turned round */
        line[n] = qp_path_text(f->q, &paths.at[n]);
        if (f->q->err.code != QP_OK || qp_count_tokens(f->counter, &line[n], 1, &tokens, &f->q->err) ||
            used + tokens > f->left)
            break;
    }
    if (!line)
        qp_oom(&f->q->err);
    while (line && n && add(f, line[n - 1]))
        n--;
}

/* Mentions and synonyms say nothing that a reader would not see. */
static bool relates(qp_query *q, qp_id edge)
{
    qp_link l;
    return !q->graph->link(q->graph->self, &edge, 1, &l, &q->err) && !qp_str_eq(l.type, QP_STR(QP_CONTAINS)) &&
           !qp_str_eq(l.type, QP_STR(QP_SYNONYM));
}

static void add_relations(facts *f, qp_list edges)
{
    qp_query *q = f->q;
    qp_str line;
    for (uint32_t i = 0; i < edges.n && q->err.code == QP_OK; i++)
        if (relates(q, edges.at[i].id) &&
            (q->graph->text(q->graph->self, QP_TRIPLE, &edges.at[i].id, 1, &line, q->mem, &q->err) || !add(f, line)))
            break;
}

qp_str qp_facts(qp_query *q, qp_set evidence, uint32_t budget, const qp_model *counter)
{
    facts f = {.q = q, .counter = counter, .left = budget};
    for (qp_str rest = q->report; rest.at && rest.n;)
        if (!add(&f, qp_str_split(rest, '\n', &rest)))
            break;
    add_paths(&f, evidence.paths);
    add_relations(&f, evidence.edges);
    qp_str out = f.text.oom ? (qp_str){0} : qp_arena_str(q->mem, qp_buf_view(&f.text));
    if (!out.at)
        qp_oom(&q->err);
    qp_buf_free(&f.text);
    return q->err.code == QP_OK ? qp_str_trim(out) : (qp_str){"", 0};
}
