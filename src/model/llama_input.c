/* What llama.cpp is given to read: a text, or a pair for a reranker, as tokens. */
#include <stdlib.h>
#include <string.h>

#include "model/llama_model.h"

void qp_llama_tokens(const qp_llama *m, qp_str text, bool add_special, bool special, qp_ids *ids)
{
    int32_t bytes = text.n < INT32_MAX / 2 ? (int32_t)text.n : INT32_MAX / 2;
    if (!qp_ids_room(ids, 16 + (uint32_t)bytes / 2))
        return;
    int32_t n =
        llama_tokenize(m->vocab, text.at, bytes, ids->at + ids->n, (int32_t)(ids->cap - ids->n), add_special, special);
    if (n < 0 && n != INT32_MIN && qp_ids_room(ids, (uint32_t)-n))
        n = llama_tokenize(m->vocab, text.at, bytes, ids->at + ids->n, (int32_t)(ids->cap - ids->n), add_special,
                           special);
    if (n > 0)
        ids->n += (uint32_t)n;
}

/* Cut to what the model takes, keeping the token that closes the input. */
static void cut(const qp_llama *m, qp_ids *ids)
{
    const uint32_t most = m->model.max_tokens;
    if (ids->n <= most)
        return;
    int32_t last = ids->at[ids->n - 1];
    ids->n = most;
    if (last == llama_vocab_eos(m->vocab) || last == llama_vocab_sep(m->vocab))
        ids->at[most - 1] = last;
}

/* What is longer than its share of the context is cut before it is tokenised, so that a book costs no more than a
 * page. */
static qp_str slice_for(const qp_llama *m, qp_str text)
{
    return qp_str_slice(text, 0, (size_t)m->model.max_tokens * 64);
}

/* An empty text in a vocabulary that adds nothing of its own. */
static void never_none(const qp_llama *m, qp_ids *ids)
{
    if (!ids->n)
        qp_ids_add(ids, llama_vocab_eos(m->vocab) >= 0 ? llama_vocab_eos(m->vocab) : 0);
}

void qp_llama_text(const qp_llama *m, qp_str prefix, qp_str text, qp_ids *ids)
{
    qp_buf whole = {0};
    qp_buf_str(&whole, prefix);
    qp_buf_str(&whole, slice_for(m, text));
    ids->oom |= whole.oom;
    qp_llama_tokens(m, qp_buf_view(&whole), true, false, ids);
    cut(m, ids);
    never_none(m, ids);
    qp_buf_free(&whole);
}

/* A reranker's template has {query} and {document}; both are read as plain text, whatever they spell. */
static void add_template(const qp_llama *m, const char *template, qp_str asked, qp_str text, qp_ids *ids)
{
    const uint32_t most = m->model.max_tokens;
    qp_ids tail = {0};
    for (qp_str rest = qp_str_of(template); rest.n;) {
        const char *brace = memchr(rest.at, '{', rest.n);
        bool query = brace && qp_str_starts(qp_str_slice(rest, (size_t)(brace - rest.at), rest.n), QP_STR("{query}"));
        bool document =
            brace && qp_str_starts(qp_str_slice(rest, (size_t)(brace - rest.at), rest.n), QP_STR("{document}"));
        size_t plain = brace ? (size_t)(brace - rest.at) + !(query || document) : rest.n;
        qp_llama_tokens(m, qp_str_slice(rest, 0, plain), false, true, ids);
        rest = qp_str_slice(rest, plain + (query ? 7 : document ? 10 : 0), rest.n);
        if (query) {
            qp_llama_tokens(m, slice_for(m, asked), false, false, ids);
            ids->n = ids->n > most * 3 / 4 ? most * 3 / 4 : ids->n;
        } else if (document) { /* what follows it must fit */
            qp_llama_tokens(m, rest, false, true, &tail);
            qp_llama_tokens(m, slice_for(m, text), false, false, ids);
            if (ids->n + tail.n > most)
                ids->n = most > tail.n ? most - tail.n : 0;
        }
    }
    ids->oom |= tail.oom;
    free(tail.at);
}

/* How a pair is joined where a file brings no template, as the families were trained: BERT's and ModernBERT's are
 * [CLS] query [SEP] document [SEP]; RoBERTa's <s> query </s></s> document </s>, which llama.cpp's flags say. */
void qp_llama_pair(const qp_llama *m, qp_str query, qp_str text, qp_ids *ids)
{
    const char *template = llama_model_chat_template(m->llama, "rerank");
    if (template) {
        add_template(m, template, query, text, ids);
        never_none(m, ids);
        return;
    }
    const bool bert = llama_vocab_type(m->vocab) == LLAMA_VOCAB_TYPE_WPM || m->modern_bert;
    const int32_t separator = llama_vocab_sep(m->vocab), eos = llama_vocab_eos(m->vocab);
    const int32_t end = bert || eos < 0 ? separator : eos;
    const bool ends = bert || llama_vocab_get_add_eos(m->vocab);
    const uint32_t room = m->model.max_tokens - 4;
    if (llama_vocab_get_add_bos(m->vocab))
        qp_ids_add(ids, llama_vocab_bos(m->vocab));
    qp_llama_tokens(m, slice_for(m, query), false, false, ids);
    ids->n = ids->n > room * 3 / 4 ? room * 3 / 4 : ids->n;
    if (ends)
        qp_ids_add(ids, end);
    if (!bert && llama_vocab_get_add_sep(m->vocab))
        qp_ids_add(ids, separator);
    qp_llama_tokens(m, slice_for(m, text), false, false, ids);
    ids->n = ids->n > room ? room : ids->n;
    if (ends)
        qp_ids_add(ids, end);
    never_none(m, ids);
}
