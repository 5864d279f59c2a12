#include "text/phrase.h"

#include <ctype.h>
#include <stdlib.h>

#include <unicode/uchar.h>

#include "base/array.h"
#include "base/hash.h"
#include "text/sentence.h"
#include "text/stop.h"
#include "text/terms.h"
#include "text/utf8.h"

struct qp_phrases {
    qp_terms *terms;
    qp_word *word;
    size_t n, cap;
    qp_buf folded;
    qp_str text;
    bool oom;
};

qp_code qp_phrases_open(qp_phrases **out, qp_err *err)
{
    qp_phrases *p = *out = calloc(1, sizeof *p);
    if (!p)
        return qp_oom(err);
    qp_code code = qp_terms_open("none", &p->terms, err);
    if (code) {
        qp_phrases_close(p);
        *out = NULL;
    }
    return code;
}

void qp_phrases_close(qp_phrases *p)
{
    if (!p)
        return;
    qp_terms_close(p->terms);
    qp_buf_free(&p->folded);
    free(p->word);
    free(p);
}

static bool only_space(qp_str text, size_t from, size_t to)
{
    for (; from < to; from++)
        if (!isspace((unsigned char)text.at[from]) && text.at[from] != '-' && text.at[from] != '_')
            return false;
    return true;
}

static bool has_letter(qp_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.at[i] >= 128 || isalpha((unsigned char)s.at[i]))
            return true;
    return false;
}

static bool is_capital(qp_str text, size_t at)
{
    uint32_t c = qp_utf8_next(text, &at);
    return u_isupper((UChar32)c) || u_istitle((UChar32)c);
}

/* `folded` is only a length here: the bytes move as the buffer grows. */
static void take(void *ctx, qp_str term, size_t from, size_t to)
{
    qp_phrases *p = ctx;
    qp_word *more = p->oom ? NULL : qp_array_room(p->word, p->n, &p->cap, sizeof *more);
    if (!more) {
        p->oom = true;
        return;
    }
    p->word = more;
    const qp_word *before = p->n ? &more[p->n - 1] : NULL;
    more[p->n] = (qp_word){.from = from,
                           .to = to,
                           .folded = {NULL, term.n},
                           .hash = qp_hash64(term),
                           .stop = qp_is_stop_word(term),
                           .number = !has_letter(term),
                           .capital = is_capital(p->text, from),
                           .overlaps = before && from < before->to,
                           .parted = before && from > before->to && !only_space(p->text, before->to, from)};
    p->n++;
    qp_buf_str(&p->folded, term);
}

/* Where a sentence begins no n-gram goes on. */
static void number_sentences(qp_phrases *p)
{
    size_t at = 0, i = 0;
    uint32_t number = 0;
    for (qp_span s; qp_sentence_next(p->text, &at, &s); number++)
        for (bool first = true; i < p->n && p->word[i].from < s.to; i++, first = false) {
            p->word[i].sentence = number;
            p->word[i].parted |= first;
            p->word[i].first = first;
        }
    for (; i < p->n; i++)
        p->word[i].sentence = number;
}

qp_code qp_phrases_cut(qp_phrases *p, qp_str text, const qp_word **out, size_t *n, qp_err *err)
{
    p->n = 0;
    p->text = text;
    qp_buf_clear(&p->folded);
    qp_terms_each(p->terms, text, take, p);
    if (p->oom || p->folded.oom)
        return qp_oom(err);
    const char *at = p->folded.at;
    for (size_t i = 0; i < p->n; at += p->word[i++].folded.n)
        p->word[i].folded.at = at;
    number_sentences(p);
    *out = p->word;
    *n = p->n;
    return QP_OK;
}

uint64_t qp_phrase_hash(uint64_t before, const qp_word *w)
{
    uint64_t h = before * UINT64_C(0x9e3779b97f4a7c15) + w->hash;
    return (h ^ h >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
}

void qp_phrase_name(const qp_word *w, size_t n, qp_buf *out)
{
    for (size_t i = 0; i < n; i++) {
        qp_str add = w[i].folded;
        if (i && w[i].overlaps) { /* its first character stands there */
            size_t first = 0;
            if (add.n)
                (void)qp_utf8_next(add, &first);
            add = qp_str_slice(add, first, add.n);
        } else if (i) {
            qp_buf_char(out, ' ');
        }
        qp_buf_str(out, add);
    }
}
