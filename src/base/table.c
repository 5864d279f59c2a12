#include "base/table.h"

#include <stdlib.h>
#include <string.h>

static size_t slot_of(const qp_table *t, uint64_t key)
{
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (t->slots - 1);
    while (t->key[at] && t->key[at] != key)
        at = (at + 1) & (t->slots - 1);
    return at;
}

static bool grow(qp_table *t)
{
    qp_table more = {.n = t->n, .slots = t->slots ? 2 * t->slots : 64};
    more.key = calloc(more.slots, sizeof *more.key);
    more.value = malloc(more.slots * sizeof *more.value);
    if (!more.key || !more.value) {
        free(more.key);
        free(more.value);
        return false;
    }
    for (size_t i = 0; i < t->slots; i++)
        if (t->key[i]) {
            size_t at = slot_of(&more, t->key[i]);
            more.key[at] = t->key[i];
            more.value[at] = t->value[i];
        }
    qp_table_free(t);
    *t = more;
    return true;
}

uint32_t *qp_table_put(qp_table *t, uint64_t key, uint32_t fresh, bool *added)
{
    key += !key;
    if (2 * t->n >= t->slots && !grow(t))
        return NULL;
    size_t at = slot_of(t, key);
    bool is_new = !t->key[at];
    if (is_new) {
        t->key[at] = key;
        t->value[at] = fresh;
        t->n++;
    }
    if (added)
        *added = is_new;
    return &t->value[at];
}

uint32_t *qp_table_get(const qp_table *t, uint64_t key)
{
    key += !key;
    size_t at = t->slots ? slot_of(t, key) : 0;
    return t->slots && t->key[at] ? &t->value[at] : NULL;
}

void qp_table_free(qp_table *t)
{
    free(t->key);
    free(t->value);
    memset(t, 0, sizeof *t);
}
