/* Plain text: as it is, with pages by form feed and line ends made one. */
#include "ingest/charset.h"
#include "ingest/reader.h"
#include "text/utf8.h"

/* Carriage returns before line feeds go, lone ones become line feeds; in place. */
static void unify_lines(qp_buf *b)
{
    size_t n = 0;

    if (!b->n || !memchr(b->at, '\r', b->n))
        return;
    for (size_t i = 0; i < b->n; i++)
        if (b->at[i] != '\r')
            b->at[n++] = b->at[i];
        else if (i + 1 == b->n || b->at[i + 1] != '\n')
            b->at[n++] = '\n';
    b->n = n;
    b->at[n] = 0;
}

qp_code qp_read_text(const qp_input *in, qp_extract *x, qp_err *err)
{
    if (!qp_charset_windows(in->bytes, &x->text))
        x->replaced = qp_utf8_repair(in->bytes, &x->text);
    if (x->text.oom)
        return qp_oom(err);
    unify_lines(&x->text);
    qp_str s = qp_buf_view(&x->text);
    uint32_t page = 1;
    for (size_t at = 0; at < s.n; at++) {
        const char *feed = memchr(s.at + at, '\f', s.n - at);
        if (!feed)
            break;
        if (page == 1)
            qp_extract_mark(x, (qp_mark){.kind = QP_MARK_PAGE, .level = page});
        at = (size_t)(feed - s.at);
        if (at + 1 < s.n)
            qp_extract_mark(x, (qp_mark){.kind = QP_MARK_PAGE, .level = ++page, .from = at + 1});
    }
    return x->oom ? qp_oom(err) : QP_OK;
}
