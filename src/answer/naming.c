#include "answer/naming.h"

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum { MOST = 64 };

struct qp_naming {
    qp_query *q;
    qp_naming_fact fact;
    void *self;
    qp_buf text;
    qp_citation cited[MOST];
    qp_str without[MOST];
    uint32_t n, n_without;
};

qp_naming *qp_naming_new(qp_query *q, qp_naming_fact fact, void *self)
{
    qp_naming *t = qp_new(q->mem, qp_naming, 1);
    if (!t) {
        qp_oom(&q->err);
        return NULL;
    }
    t->q = q;
    t->fact = fact;
    t->self = self;
    return t;
}

void qp_naming_add(qp_naming *t, qp_str name)
{
    if (!name.n || t->n == MOST || t->n_without == MOST)
        return;
    qp_id node = QP_NO_ID;
    qp_str fact = t->fact(t->self, name, &node);
    if (t->text.n)
        qp_buf_text(&t->text, ", ");
    qp_buf_str(&t->text, name);
    if (!fact.n || node == QP_NO_ID) {
        t->without[t->n_without++] = name;
        return;
    }
    t->cited[t->n] = (qp_citation){.n = t->n + 1, .node = node, .quote = fact, .supported = true};
    qp_buf_fmt(&t->text, " [%u]", ++t->n);
}

void qp_naming_add_lines(qp_naming *t, qp_str said)
{
    while (said.at && said.n && t->q->err.code == QP_OK) {
        qp_str line = qp_str_trim(qp_str_split(said, '\n', &said));
        while (line.n && (*line.at == '-' || *line.at == '*' || *line.at == ' '))
            line = qp_str_slice(line, 1, line.n);
        qp_naming_add(t, line);
    }
}

void qp_naming_end(qp_naming *t, qp_answer *answer)
{
    bool whole = !t->text.oom;
    answer->text = whole ? qp_arena_str(t->q->mem, t->text.n ? qp_buf_view(&t->text) : QP_STR("")) : (qp_str){0};
    if (!answer->text.at)
        qp_oom(&t->q->err);
    qp_buf_free(&t->text);
    answer->citations = t->cited;
    answer->n_citations = t->n;
    answer->without = t->without;
    answer->unsupported = t->n_without;
}
