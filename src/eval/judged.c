#include "eval/judged.h"

#include <stdlib.h>

#include "op/prompt.h"
#include "text/sentence.h"
#include "text/utf8.h"

enum { PASSAGES = 5, PASSAGE_BYTES = 1200, STATEMENTS = 64 };

/* 0, .5 or 1: how much of what `first` says `second` says, too. */
static double agreement(qp_query *q, qp_str first, qp_str second)
{
    const qp_field fields[] = {{"question", q->text}, {"first", first}, {"second", second}};
    qp_str prompt = qp_prompt(q, NULL, "judge-accuracy.txt", fields, 3);
    if (q->err.code != QP_OK)
        return 0;
    qp_str said = qp_write(q, prompt, (qp_sampling){.max_tokens = 4, .grammar = "root ::= \"0.5\" | \"0\" | \"1\""});
    return qp_str_eq(said, QP_STR("1")) ? 1 : qp_str_eq(said, QP_STR("0.5")) ? .5 : 0;
}

/* Each in both places: a judge that likes what it reads first likes neither more. The best of the accepted answers
 * counts. */
static double accuracy(qp_query *q, const qp_answered *a)
{
    double best = 0;
    for (uint32_t i = 0; i < a->n_gold && best < 1 && q->err.code == QP_OK; i++) {
        double one = (agreement(q, a->gold[i], a->text) + agreement(q, a->text, a->gold[i])) / 2;
        best = one > best ? one : best;
    }
    return best;
}

static bool agreed(qp_query *q, const char *standard, qp_str statement, qp_str text)
{
    const qp_field fields[] = {{"question", q->text}, {"statement", statement}, {"text", text}};
    qp_str prompt = qp_prompt(q, NULL, standard, fields, 3);
    if (q->err.code != QP_OK)
        return false;
    qp_str said = qp_write(q, prompt, (qp_sampling){.max_tokens = 4, .grammar = "root ::= \"yes\" | \"no\""});
    return qp_str_eq(said, QP_STR("yes"));
}

static double coverage(qp_query *q, const qp_answered *a, const qp_str *statement, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n && q->err.code == QP_OK; i++)
        sum += agreed(q, "judge-covers.txt", statement[i], a->text);
    return n ? sum / n : 0;
}

static double faithfulness(qp_query *q, const qp_answered *a, qp_list found)
{
    qp_id ids[PASSAGES];
    qp_str text[PASSAGES], passages = {0};
    uint32_t n = found.n < PASSAGES ? found.n : PASSAGES, sentences = 0;
    double sum = 0;
    size_t at = 0;
    for (uint32_t i = 0; i < n; i++)
        ids[i] = found.at[i].id;
    if (q->graph->text(q->graph->self, QP_NODE, ids, n, text, q->mem, &q->err))
        return 0;
    for (uint32_t i = 0; i < n; i++)
        passages = qp_arena_fmt(q->mem, "%.*s%.*s\n\n", (int)passages.n, passages.n ? passages.at : "",
                                (int)qp_utf8_floor(text[i], PASSAGE_BYTES), text[i].at);
    for (qp_span s; sentences < STATEMENTS && q->err.code == QP_OK && qp_sentence_next(a->text, &at, &s); sentences++)
        sum += agreed(q, "judge-supports.txt", qp_str_slice(a->text, s.from, s.to), passages);
    return sentences ? sum / sentences : 0;
}

qp_code qp_judge_answer(qp_query *q, qp_list found, const qp_str *statement, uint32_t n, qp_answered *out, qp_err *err)
{
    bool own = !n; /* else what the accepted answer says */
    double acc = accuracy(q, out);
    double cov = coverage(q, out, own ? out->gold : statement, own ? out->n_gold : n);
    double fs = faithfulness(q, out, found);
    if (q->err.code != QP_OK)
        return qp_fail(err, q->err.code, "the judge: %s", q->err.message);
    out->accuracy = acc;
    out->coverage = cov;
    out->faithfulness = fs;
    return QP_OK;
}

static double acc(const qp_outcome *o, uint32_t k)
{
    (void)k;
    return o->answer ? o->answer->accuracy : 0;
}

static double cov(const qp_outcome *o, uint32_t k)
{
    (void)k;
    return o->answer ? o->answer->coverage : 0;
}

static double fs(const qp_outcome *o, uint32_t k)
{
    (void)k;
    return o->answer ? o->answer->faithfulness : 0;
}

const qp_measure qp_measure_acc = {
    .name = "acc",
    .help = "what a judge says of the answer beside an accepted one: 0, .5 or 1, in both orders",
    .definition = "max over accepted a of (judge(a, answer) + judge(answer, a)) / 2",
    .citation = "AGRAG, VI-A; GraphRAG-Bench's accuracy",
    .wants = QP_WANTS_JUDGE,
    .of = acc,
};

const qp_measure qp_measure_cov = {
    .name = "cov",
    .help = "share of the statements a right answer rests on that a judge finds in the answer",
    .definition = "|evidence (else accepted answers) that the judge says the answer states| / |evidence|",
    .citation = "GraphRAG-Bench's coverage",
    .wants = QP_WANTS_JUDGE,
    .of = cov,
};

const qp_measure qp_measure_fs = {
    .name = "fs",
    .help = "share of the answer's sentences that a judge finds in the first five passages, 1,200 bytes of each",
    .definition =
        "|sentences of the answer that the judge says the passages, cut at 1,200 bytes each, support| / |sentences|",
    .citation = "GraphRAG-Bench's faithfulness",
    .wants = QP_WANTS_JUDGE,
    .of = fs,
};
