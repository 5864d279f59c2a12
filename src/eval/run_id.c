#include "eval/run_id.h"

#include <ctype.h>
#include <stdlib.h>

#include "quipu.h"
#include "text/utf8.h"

/* Unicode's White_Space; utf8proc's categories are another set. */
static bool is_white(uint32_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

void qp_run_id_add(qp_buf *out, qp_str id)
{
    for (size_t at = 0; at < id.n;) {
        size_t from = at;
        uint32_t c = qp_utf8_next(id, &at);
        if (is_white(c))
            qp_buf_text(out, "%20");
        else if (c < ' ' || c == '%' || c == 0x7f)
            qp_buf_fmt(out, "%%%02X", c);
        else
            qp_buf_str(out, qp_str_slice(id, from, at));
    }
}

qp_str qp_run_id_read(qp_arena *mem, qp_str s)
{
    if (!s.n || !memchr(s.at, '%', s.n))
        return qp_arena_str(mem, s);
    char *to = qp_new(mem, char, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; to && i < s.n; i++) {
        if (s.at[i] == '%' && i + 2 < s.n && isxdigit((unsigned char)s.at[i + 1]) &&
            isxdigit((unsigned char)s.at[i + 2])) {
            char hex[3] = {s.at[i + 1], s.at[i + 2], 0};
            to[n++] = (char)strtol(hex, NULL, 16);
            i += 2;
        } else {
            to[n++] = s.at[i];
        }
    }
    return (qp_str){to, to ? n : 0};
}

bool qp_run_id_is_odd(qp_str id)
{
    bool odd = false;
    for (size_t at = 0; at < id.n && !odd;) {
        uint32_t c = qp_utf8_next(id, &at);
        odd = c != ' ' && is_white(c);
    }
    return odd;
}

qp_str qp_run_id_plain(qp_arena *mem, qp_str id)
{
    char *to = qp_new(mem, char, id.n + 1);
    size_t n = 0;
    for (size_t at = 0; to && at < id.n;) {
        size_t from = at;
        if (is_white(qp_utf8_next(id, &at)))
            to[n++] = ' ';
        else
            while (from < at)
                to[n++] = id.at[from++];
    }
    return (qp_str){to, to ? n : 0};
}

char *qp_run_id(const char *id)
{
    qp_buf out = {0};
    qp_run_id_add(&out, qp_str_of(id));
    char *text = out.oom ? NULL : strndup(out.n ? qp_buf_view(&out).at : "", out.n);
    qp_buf_free(&out);
    return text;
}
