#include "base/template.h"

#include "base/file.h"
#include "base/share.h"

enum { LONGEST = 64 << 10 };

void qp_template_fill(qp_buf *out, qp_str text, const qp_field *fields, size_t n)
{
    while (text.n) {
        qp_buf_str(out, qp_str_split(text, '{', &text));
        if (!text.at)
            break;
        qp_str rest, name = qp_str_split(text, '}', &rest);
        size_t i = 0;
        while (i < n && !(rest.at && qp_str_eq(name, qp_str_of(fields[i].name))))
            i++;
        if (i < n) {
            qp_buf_str(out, fields[i].value);
            text = rest;
        } else {
            qp_buf_char(out, '{');
        }
    }
}

bool qp_template_has(qp_str text, const char *field)
{
    while (text.n) {
        qp_str rest;
        (void)qp_str_split(text, '{', &text);
        if (text.at && qp_str_eq(qp_str_split(text, '}', &rest), qp_str_of(field)) && rest.at)
            return true;
    }
    return false;
}

qp_code qp_template_read(const char *file, const char *standard, qp_buf *out, qp_arena *a, qp_err *err)
{
    qp_str name = qp_arena_fmt(a, "prompts/%s", standard);
    if (!name.at)
        return qp_oom(err);
    const char *path = file && *file ? file : qp_share_find(a, name.at);
    if (!path)
        return qp_fail(err, QP_INPUT, "%s is not among Quipu's files: set QUIPU_SHARE to the folder that has it",
                       name.at);
    qp_buf_clear(out);
    qp_code code = qp_file_read(path, LONGEST, out, err);
    return !code && out->oom ? qp_oom(err) : code;
}
