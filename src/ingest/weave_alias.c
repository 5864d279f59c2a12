/* Abbreviations that a text explains: both forms are entities, and a fact joins them; see ingest/weave.h. */
#include "ingest/weave_parts.h"
#include "text/abbreviation.h"

struct run { /* of words of the chunk at hand; n = 0: none */
    size_t at, n;
};

struct explained {
    qp_weave_work *w;
    qp_code (*take)(qp_weave_work *, struct run full, struct run brief, qp_err *);
    qp_code code;
    qp_err *err;
};

/* The words of a part of the chunk's text. */
static struct run run_of(const qp_weave_work *w, qp_str part)
{
    size_t from = (size_t)(part.at - w->text.at), low = 0, high = w->n_words, n = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->word[middle].from < from)
            low = middle + 1;
        else
            high = middle;
    }
    while (low + n < w->n_words && w->word[low + n].to <= from + part.n)
        n++;
    return (struct run){low, n <= QP_WEAVE_NAME ? n : 0};
}

static bool take(void *ctx, qp_str brief, qp_str full)
{
    struct explained *x = ctx;
    struct run a = run_of(x->w, full), b = run_of(x->w, brief);
    if (a.n && b.n)
        x->code = x->take(x->w, a, b, x->err);
    return x->code == QP_OK;
}

static qp_code name_both(qp_weave_work *w, struct run full, struct run brief, qp_err *err)
{
    qp_code code = qp_weave_keep(w, full.at, full.n, err);
    return code ? code : qp_weave_keep(w, brief.at, brief.n, err);
}

static qp_code join_both(qp_weave_work *w, struct run full, struct run brief, qp_err *err)
{
    uint32_t a = qp_weave_entity(w, full.at, full.n), b = qp_weave_entity(w, brief.at, brief.n);
    size_t first = full.at < brief.at ? full.at : brief.at;
    size_t last = full.at < brief.at ? brief.at + brief.n : full.at + full.n;
    if (a == UINT32_MAX || b == UINT32_MAX || a == b)
        return QP_OK;
    return qp_weave_fact(w, a, QP_WEAVE_ABBREVIATED, b, qp_weave_place(w, first, last - 1), (struct place){0}, err);
}

qp_code qp_weave_aliases(qp_weave_work *w, bool join, qp_err *err)
{
    struct explained x = {w, join ? join_both : name_both, QP_OK, err};
    if (w->how->extract && w->how->spans != QP_WEAVE_NGRAMS)
        qp_abbreviations(qp_buf_view(&w->text), take, &x);
    return x.code;
}
