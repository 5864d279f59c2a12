#include "answer/words.h"

#include <ctype.h>

#include "text/stop.h"

enum { MOST = 256 };

typedef struct collector {
    qp_str text;
    qp_str found[MOST];
    uint32_t n;
    qp_arena *mem;
} collector;

static bool holds(const qp_str *words, uint32_t n, qp_str word)
{
    for (uint32_t i = 0; i < n; i++)
        if (qp_str_eq(words[i], word))
            return true;
    return false;
}

static void collect(void *ctx, qp_str term, size_t from, size_t to)
{
    collector *c = ctx;
    if (c->n == MOST || qp_is_stop_word(qp_str_slice(c->text, from, to)) || holds(c->found, c->n, term))
        return;
    c->found[c->n++] = qp_arena_str(c->mem, term);
}

qp_words qp_words_of(qp_terms *terms, qp_str text, qp_arena *mem)
{
    collector c = {.text = text, .mem = mem};
    qp_terms_each(terms, text, collect, &c);
    qp_words words = {qp_new(mem, qp_str, c.n), c.n};
    if (!words.at)
        return (qp_words){0};
    memcpy(words.at, c.found, c.n * sizeof *words.at);
    return words;
}

float qp_words_share(const qp_words *a, const qp_words *b)
{
    uint32_t held = 0;
    for (uint32_t i = 0; i < a->n; i++)
        held += holds(b->at, b->n, a->at[i]);
    return a->n ? (float)held / (float)a->n : 0;
}

static bool has_digit(qp_str word)
{
    for (size_t i = 0; i < word.n; i++)
        if (isdigit((unsigned char)word.at[i]))
            return true;
    return false;
}

bool qp_words_lack_number(const qp_words *a, const qp_words *b)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (has_digit(a->at[i]) && !holds(b->at, b->n, a->at[i]))
            return true;
    return false;
}
