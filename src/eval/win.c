/* Which of two answers a judge finds better, in both orders; see eval/judged.h. */
#include "eval/judged.h"
#include "op/prompt.h"

/* '1', '2' or '0': neither; a judge without grammar that says something else finds neither better. */
static char better(qp_query *q, const char *file, qp_str first, qp_str second)
{
    const qp_field fields[] = {{"question", q->text}, {"first", first}, {"second", second}};
    qp_str prompt = qp_prompt(q, file, "judge-better.txt", fields, 3);
    if (q->err.code != QP_OK)
        return '0';
    qp_str said = qp_write(q, prompt, (qp_sampling){.max_tokens = 4, .grammar = "root ::= \"1\" | \"2\" | \"0\""});
    return said.n ? *said.at : '0';
}

qp_code qp_judge_win(qp_query *q, const char *prompt, const qp_answered *rival, qp_answered *out, qp_err *err)
{
    out->win = .5;
    if (out == rival || (rival && qp_str_eq(out->text, rival->text)))
        return QP_OK;
    if (!rival) { /* whoever says nothing loses */
        out->win = 1;
        return QP_OK;
    }
    char one = better(q, prompt, rival->text, out->text), other = better(q, prompt, out->text, rival->text);
    if (q->err.code != QP_OK)
        return qp_fail(err, q->err.code, "the judge: %s", q->err.message);
    out->win = one == '2' && other == '1' ? 1 : one == '1' && other == '2' ? 0 : .5;
    return QP_OK;
}

static double win(const qp_outcome *o, uint32_t k)
{
    (void)k;
    return o->answer ? o->answer->win : 0;
}

const qp_measure qp_measure_win = {
    .name = "win",
    .help = "share of the questions on which a judge prefers the answer to the first method's in both orders; ties are "
            "half",
    .definition = "1 if the judge prefers it whether it is read first or second, 0 if so the other, else 1/2",
    .citation = "LightRAG, 4.1 (pairwise, positions swapped); ours: what the orders do not agree on is a tie",
    .wants = QP_WANTS_RIVAL,
    .of = win,
};
