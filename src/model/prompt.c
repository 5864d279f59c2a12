#include "model/prompt.h"

#include <stdio.h>
#include <stdlib.h>

/* The template is filled with place-holders, MARK number MARK; what is between them is the template's own text. */
#define MARK "\x02"
enum { MARK_BYTES = 24 };

/* The filled template in out; false without memory. */
static bool fill_template(const char *template, const qp_message *message, uint32_t n, qp_buf *out)
{
    struct llama_chat_message *chat = calloc(n + 1, sizeof *chat);
    char(*marks)[MARK_BYTES] = calloc(n + 1, sizeof *marks);
    bool done = chat && marks;
    for (uint32_t i = 0; i < n && done; i++) {
        snprintf(marks[i], MARK_BYTES, MARK "%u" MARK, i);
        chat[i] = (struct llama_chat_message){message[i].role, marks[i]};
    }
    int32_t need = 0;
    for (int tries = 0; tries < 3 && done; tries++) {
        size_t room = (size_t)need + 4096;
        char *at = qp_buf_room(out, room);
        if (!(done = at))
            break;
        need = llama_chat_apply_template(template, chat, n, true, at, (int32_t)room);
        if (need < 0) { /* not one of the templates that llama.cpp knows */
            template = "chatml";
            need = 0;
        } else if ((size_t)need <= room) {
            out->n += (size_t)need;
            break;
        }
    }
    free(chat);
    free(marks);
    return done;
}

static void join_plainly(uint32_t n, qp_buf *out)
{
    for (uint32_t i = 0; i < n; i++)
        qp_buf_fmt(out, "%s" MARK "%u" MARK, i ? "\n\n" : "", i);
}

qp_code qp_prompt_tokens(const qp_llama *m, const qp_message *message, uint32_t n, qp_ids *ids, qp_err *err)
{
    const char *template = llama_model_chat_template(m->llama, NULL);
    qp_buf prompt = {0};
    if (template && !fill_template(template, message, n, &prompt))
        prompt.oom = true;
    else if (!template)
        join_plainly(n, &prompt);
    /* A model that thinks aloud unless told not to (Qwen3) is told in its own template's words, spelled as in its
     * source. */
    if (template && strstr(template, "<think>\\n\\n</think>\\n\\n"))
        qp_buf_text(&prompt, "<think>\n\n</think>\n\n");
    if (prompt.oom) {
        qp_buf_free(&prompt);
        return qp_oom(err);
    }
    qp_str rest = qp_buf_view(&prompt);
    bool first = true;
    while (rest.n) {
        qp_str own = qp_str_split(rest, *MARK, &rest), number = qp_str_split(rest, *MARK, &rest);
        if (own.n || first)
            qp_llama_tokens(m, own, first, true, ids);
        first = false;
        if (number.n) {
            uint32_t i = (uint32_t)strtoul(number.at, NULL, 10);
            if (i < n && message[i].text.n)
                qp_llama_tokens(m, message[i].text, false, false, ids);
        }
    }
    qp_buf_free(&prompt);
    if (ids->n > 1 && ids->at[0] == llama_vocab_bos(m->vocab) &&
        ids->at[1] == ids->at[0]) { /* by template and tokeniser */
        memmove(ids->at, ids->at + 1, (ids->n - 1) * sizeof *ids->at);
        ids->n--;
    }
    return ids->oom ? qp_oom(err) : QP_OK;
}
