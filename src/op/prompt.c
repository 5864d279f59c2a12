#include "op/prompt.h"

#include "base/clock.h"
#include "op/op.h"
#include "text/utf8.h"

enum { LONGEST_ITEM = 1000 };

void qp_prompt_add(qp_buf *out, qp_str item)
{
    if (item.n <= LONGEST_ITEM) {
        qp_buf_str(out, item);
        return;
    }
    qp_buf_str(out, qp_str_slice(item, 0, qp_utf8_floor(item, LONGEST_ITEM / 2)));
    qp_buf_text(out, " ... ");
    qp_buf_str(out, qp_str_slice(item, qp_utf8_floor(item, item.n - LONGEST_ITEM / 2), item.n));
}

qp_str qp_prompt(qp_query *q, const char *file, const char *standard, const qp_field *fields, size_t n)
{
    qp_str none = {"", 0};
    qp_buf template = {0}, out = {0};
    qp_code code = qp_template_read(file, standard, &template, q->mem, &q->err);
    for (size_t i = 0; file && *file && !code && i < n; i++)
        if (!strcmp(fields[i].name, "question") && !qp_template_has(qp_buf_view(&template), "question"))
            code = qp_fail(&q->err, QP_INPUT,
                           "%s: has no {question}; prompts/%s shows all that stands in such a prompt", file, standard);
    if (!code)
        qp_template_fill(&out, qp_buf_view(&template), fields, n);
    qp_str text = q->err.code == QP_OK ? qp_arena_str(q->mem, qp_buf_view(&out)) : none;
    if (q->err.code == QP_OK && (out.oom || text.n != out.n))
        qp_oom(&q->err);
    qp_buf_free(&template);
    qp_buf_free(&out);
    return text;
}

/* Text is asked for only as long as there is time; the error sticks to the query. */
static bool in_time(void *user, const char *text, size_t n)
{
    (void)text, (void)n;
    return !qp_query_over(user, "writer");
}

qp_str qp_write(qp_query *q, qp_str prompt, qp_sampling sampling)
{
    qp_str out = {"", 0};
    if (qp_query_over(q, "writer"))
        return out;
    if (!q->writer || !q->writer->generate) {
        qp_fail(&q->err, QP_MODEL,
                "this method needs a writer and there is none: `quipu model pull` one, or ask with -m hybrid");
        return out;
    }
    sampling.cancel = q->cancel;
    if (q->deadline > 0) { /* else none: an HTTP writer that streams to us is not asked again */
        sampling.token = in_time;
        sampling.user = q;
    }
    double start = qp_now_ms();
    qp_message message = {"user", qp_str_trim(prompt)};
    q->writer->generate(q->writer->self, &message, 1, &sampling, &out, q->mem, &q->err);
    qp_trace_add_model_ms(q, "write", qp_now_ms() - start);
    return q->err.code == QP_OK ? qp_str_trim(out) : (qp_str){"", 0};
}
