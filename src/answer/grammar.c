#include "answer/grammar.h"

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

static void quoted(qp_buf *out, qp_str text)
{
    qp_buf_char(out, '"');
    for (size_t i = 0; i < text.n; i++) {
        if (text.at[i] == '"' || text.at[i] == '\\')
            qp_buf_char(out, '\\');
        qp_buf_char(out, text.at[i]);
    }
    qp_buf_char(out, '"');
}

const char *qp_answer_grammar(qp_query *q, const qp_answer_options *o)
{
    qp_buf text = {0};
    if (!o->choices || q->err.code != QP_OK)
        return NULL;
    qp_buf_text(&text, "root ::= ");
    for (qp_str rest = qp_str_of(o->choices); rest.at;) {
        quoted(&text, qp_str_trim(qp_str_split(rest, '|', &rest)));
        qp_buf_text(&text, rest.at ? " | " : "\n");
    }
    qp_str out = text.oom ? (qp_str){0} : qp_arena_str(q->mem, qp_buf_view(&text));
    if (!out.at)
        qp_oom(&q->err);
    qp_buf_free(&text);
    return out.at;
}
