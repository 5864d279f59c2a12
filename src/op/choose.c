#include "op/choose.h"

#include <stdio.h>
#include <stdlib.h>

#include "op/prompt.h"
#include "op/op.h"

enum { WINDOW = 64 };

static qp_str numbered(qp_query *q, const qp_str *item, uint32_t n)
{
    qp_buf text = {0};
    for (uint32_t i = 0; i < n; i++) {
        qp_buf_fmt(&text, "%s%u. ", i ? "\n" : "", i + 1);
        qp_prompt_add(&text, item[i]);
    }
    qp_str out = text.oom ? (qp_str){0} : qp_arena_str(q->mem, text.n ? qp_buf_view(&text) : QP_STR(""));
    if (!out.at)
        qp_oom(&q->err);
    qp_buf_free(&text);
    return out;
}

/* One to k of the numbers 1 to n, with commas between them; or none. */
static const char *grammar_of(qp_query *q, uint32_t n, uint32_t k, bool none)
{
    qp_buf text = {0};
    qp_buf_fmt(&text, "root ::= %snumber (\", \" number){0,%u}\nnumber ::= ", none ? "\"none\" | " : "", k - 1);
    for (uint32_t i = n; i; i--) /* longer numbers first: "1" begins "12" */
        qp_buf_fmt(&text, "%s\"%u\"", i < n ? " | " : "", i);
    qp_buf_char(&text, '\n');
    qp_str out = text.oom ? (qp_str){0} : qp_arena_str(q->mem, qp_buf_view(&text));
    if (!out.at)
        qp_oom(&q->err);
    qp_buf_free(&text);
    return out.at;
}

static uint32_t read_numbers(qp_str text, uint32_t n, uint32_t k, uint32_t *out)
{
    uint32_t count = 0;
    for (size_t i = 0; i < text.n && count < k;) {
        uint32_t number = 0;
        bool digits = false, known = false;
        for (; i < text.n && text.at[i] >= '0' && text.at[i] <= '9'; i++, digits = true)
            number = number < 100000 ? 10 * number + (uint32_t)(text.at[i] - '0') : number;
        i += !digits;
        for (uint32_t j = 0; j < count; j++)
            known |= out[j] == number - 1;
        if (digits && number && number <= n && !known)
            out[count++] = number - 1;
    }
    return count;
}

static uint32_t choose_from(qp_query *q, const qp_choice *c, const qp_str *item, uint32_t n, uint32_t *out)
{
    char k[16];
    uint32_t most = c->k < n ? c->k : n;
    snprintf(k, sizeof k, "%u", most);
    const qp_field fields[] = {{"question", q->text},
                               {"items", numbered(q, item, n)},
                               {"k", qp_str_of(k)},
                               {"example", qp_str_of(c->example ? c->example : "")}};
    if (q->err.code != QP_OK || !most)
        return 0;
    qp_str prompt = qp_prompt(q, c->prompt, c->standard, fields, 4);
    const char *grammar = grammar_of(q, n, most, c->none);
    if (q->err.code != QP_OK)
        return 0;
    qp_str said = qp_write(q, prompt, (qp_sampling){.max_tokens = 6 * most + 8, .grammar = grammar});
    return read_numbers(said, n, most, out);
}

const uint32_t *qp_choose(qp_query *q, const qp_choice *c, const qp_str *item, uint32_t n, uint32_t *n_chosen)
{
    uint32_t window = c->window ? c->window : WINDOW, left = n;
    uint32_t *at = qp_new(q->mem, uint32_t, n + 1u), *out = qp_new(q->mem, uint32_t, window + 1u);
    qp_str *shown = qp_new(q->mem, qp_str, window + 1u);
    *n_chosen = 0;
    if (!at || !out || !shown) {
        qp_oom(&q->err);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++)
        at[i] = i;
    for (bool last = false; left && !last && q->err.code == QP_OK;) {
        uint32_t kept = 0, before = left;
        last = left <= window;
        for (uint32_t from = 0, some; from < left && q->err.code == QP_OK; from += some) {
            some = left - from < window ? left - from : window;
            for (uint32_t i = 0; i < some; i++)
                shown[i] = item[at[from + i]];
            uint32_t chosen = choose_from(q, c, shown, some, out);
            for (uint32_t i = 0; i < chosen; i++)
                out[i] = at[from + out[i]];
            for (uint32_t i = 0; i < chosen; i++) /* never more than were looked at */
                at[kept++] = out[i];
        }
        left = kept;
        last |= left == before; /* it drops nothing: this is what there is */
    }
    *n_chosen = left < c->k ? left : c->k;
    return q->err.code == QP_OK ? at : NULL;
}

bool qp_agrees(qp_query *q, const char *prompt, const char *standard, const qp_str *item, uint32_t n)
{
    const qp_field fields[] = {{"question", q->text}, {"items", numbered(q, item, n)}};
    if (q->err.code != QP_OK)
        return false;
    qp_str text = qp_prompt(q, prompt, standard, fields, 2);
    qp_str said = qp_write(q, text, (qp_sampling){.max_tokens = 4, .grammar = "root ::= \"yes\" | \"no\"\n"});
    return said.n && said.at[0] == 'y';
}
