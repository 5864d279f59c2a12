/* A round of questions to a writer, several at a time where it is a service; see ingest/weave.h. Each answer is kept
 * the moment it is there. A question that fails for good is left out, as the next may not; a writer that is gone is not
 * asked on and on. */
#include <pthread.h>
#include <string.h>

#include "base/thread.h"
#include "ingest/weave_parts.h"
#include "ingest/writing.h"

enum { ROUND = 8 /* questions for each that is under way */, MOST_FAILURES = 8 /* in a row */, ANSWER_TOKENS = 400 };

typedef struct round {
    qp_weave_work *w;
    pthread_mutex_t lock; /* guards the store and the counts */
} round;

static qp_code put_question(const qp_weave_work *w, struct question *q, qp_err *err)
{
    const qp_model *m = w->how->writer;
    qp_buf grammar = {0};
    qp_arena *mem = qp_arena_new();
    qp_str out = {0};
    qp_weave_grammar(w, q, &grammar);
    qp_code code = mem ? qp_writing_ask(m, q->prompt, &grammar, ANSWER_TOKENS, &out, mem, err) : qp_oom(err);
    qp_buf_str(&q->said, out);
    code = code || !q->said.oom ? code : qp_oom(err);
    qp_arena_free(mem);
    qp_buf_free(&grammar);
    return code;
}

static qp_code ask_one(void *ctx, int worker, size_t i, qp_err *err)
{
    round *r = ctx;
    qp_weave_work *w = r->w;
    struct question *q = &w->question[i];
    qp_err why = {0};
    (void)worker;
    qp_code code = put_question(w, q, &why);
    pthread_mutex_lock(&r->lock);
    w->counts.asked++;
    if (!code) {
        w->failures = 0;
        code = qp_store_say(w->store, q->key, w->how->writer->digest, qp_buf_view(&q->said), &why);
    } else if (code == QP_MODEL) {
        qp_fail(&w->counts.why, code, "%s", why.message);
        w->counts.unanswered++;
        code = ++w->failures < MOST_FAILURES ? QP_OK : code;
    }
    pthread_mutex_unlock(&r->lock);
    return code ? qp_fail(err, code, "%s", why.message) : QP_OK;
}

static size_t most_waiting(const qp_weave_work *w)
{
    uint32_t at_once = w->how->writer->at_once;
    return (size_t)ROUND * (at_once ? at_once : 1);
}

qp_code qp_weave_round(qp_weave_work *w, qp_err *err)
{
    uint32_t at_once = w->how->writer ? w->how->writer->at_once : 0;
    round r = {.w = w, .lock = PTHREAD_MUTEX_INITIALIZER};
    qp_err why = {0};
    qp_code code = qp_parallel(at_once ? (int)at_once : 1, w->n_questions, ask_one, &r, &why);
    if (code == QP_STOPPED) /* the index has its own words for that */
        (void)w->tell(w->ctx, w->done, w->total, err);
    if (code)
        qp_fail(err, code, "%.800s; what was answered is kept, run it again to go on", why.message);
    for (size_t i = 0; i < w->n_questions; i++) {
        struct question *q = &w->question[i];
        code = code ? code : qp_weave_take(w, q, qp_buf_view(&q->said), err);
        qp_buf_free(&q->said);
    }
    w->n_questions = 0;
    w->question = NULL;
    if (w->round)
        qp_arena_reset(w->round);
    return code;
}

bool qp_weave_waits(const qp_weave_work *w, qp_digest key)
{
    size_t i = 0;
    while (i < w->n_questions && strcmp(w->question[i].key.hex, key.hex) != 0)
        i++;
    return i < w->n_questions;
}

qp_code qp_weave_wait(qp_weave_work *w, const struct question *q, qp_err *err)
{
    if (!w->round && !(w->round = qp_arena_new()))
        return qp_oom(err);
    if (!w->question && !(w->question = qp_new(w->round, struct question, most_waiting(w))))
        return qp_oom(err);
    uint32_t *entity = qp_new(w->round, uint32_t, q->n);
    struct question kept = {.key = q->key, .prompt = qp_arena_str(w->round, q->prompt), .entity = entity, .n = q->n};
    if (!entity || !kept.prompt.at)
        return qp_oom(err);
    memcpy(entity, q->entity, q->n * sizeof *entity);
    w->question[w->n_questions++] = kept;
    return w->n_questions < most_waiting(w) ? QP_OK : qp_weave_round(w, err);
}

qp_code qp_weave_answered(const qp_weave_work *w, qp_err *err)
{
    const qp_woven *c = &w->counts;
    return c->unanswered && c->unanswered == c->asked && !c->remembered
               ? qp_fail(err, c->why.code, "%s", c->why.message)
               : QP_OK;
}
