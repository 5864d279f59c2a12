#include "ingest/writing.h"

#include "base/err.h"
#include "base/template.h"
#include "base/thread.h"

qp_code qp_writing_prompt(const char *file, const char *standard, const char *const *fields, qp_buf *out, qp_err *err)
{
    qp_arena *mem = qp_arena_new();
    qp_buf wanted = {0};
    qp_code code = mem ? qp_template_read(file, standard, out, mem, err) : qp_oom(err);
    for (int i = 0; fields[i]; i++)
        qp_buf_fmt(&wanted, "%s{%s}", i ? " and " : "", fields[i]);
    qp_buf_char(&wanted, 0);
    for (int i = 0; !code && fields[i]; i++)
        if (!qp_template_has(qp_buf_view(out), fields[i]))
            code = wanted.oom ? qp_oom(err)
                              : qp_fail(err, QP_INPUT, "%s%s: has no {%s}; this prompt is one with %s",
                                        file && *file ? "" : "prompts/", file && *file ? file : standard, fields[i],
                                        wanted.at);
    qp_buf_free(&wanted);
    qp_arena_free(mem);
    return code;
}

qp_code qp_writing_ask(const qp_model *writer, qp_str prompt, qp_buf *grammar, uint32_t max_tokens, qp_str *out,
                       qp_arena *mem, qp_err *err)
{
    const qp_message message = {"user", prompt};
    qp_buf_char(grammar, 0);
    if (grammar->oom)
        return qp_oom(err);
    const qp_sampling how = {.max_tokens = max_tokens, .grammar = grammar->at, .cancel = qp_patience_get().cancel};
    return writer->generate(writer->self, &message, 1, &how, out, mem, err);
}

qp_code qp_writing_count(const qp_model *m, qp_str text, uint64_t *tokens, qp_err *err)
{
    uint32_t n = (uint32_t)(text.n / 4);
    qp_code code = m && m->count ? m->count(m->self, &text, 1, &n, err) : QP_OK;
    *tokens += n;
    return code;
}
