#include "base/map.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/hash.h"

typedef struct pair {
    qp_str key;
    uint64_t value, hash;
} pair;

/* Pairs lie in insertion order; the table holds their numbers + 1 (0: free), probed linearly. */
struct qp_map {
    pair *pairs;
    uint32_t *table;
    size_t n, cap, slots; /* slots: a power of two, at least twice n */
    qp_arena *keys;
};

qp_map *qp_map_new(void)
{
    qp_map *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->keys = qp_arena_new();
    if (!m->keys) {
        free(m);
        return NULL;
    }
    return m;
}

void qp_map_free(qp_map *m)
{
    if (!m)
        return;
    qp_arena_free(m->keys);
    free(m->pairs);
    free(m->table);
    free(m);
}

size_t qp_map_size(const qp_map *m)
{
    return m->n;
}

/* The slot that holds key, or the free one where it would go. */
static size_t slot_of(const qp_map *m, qp_str key, uint64_t hash)
{
    size_t mask = m->slots - 1, at = hash & mask;
    while (m->table[at]) {
        const pair *p = &m->pairs[m->table[at] - 1];
        if (p->hash == hash && qp_str_eq(p->key, key))
            break;
        at = (at + 1) & mask;
    }
    return at;
}

static bool grow(qp_map *m)
{
    size_t cap = m->cap ? m->cap * 2 : 16;
    if (cap > UINT32_MAX / 4)
        return false;
    pair *pairs = realloc(m->pairs, cap * sizeof *pairs);
    if (!pairs)
        return false;
    m->pairs = pairs;
    uint32_t *table = calloc(cap * 2, sizeof *table);
    if (!table)
        return false;
    free(m->table);
    m->table = table;
    m->cap = cap;
    m->slots = cap * 2;
    for (size_t i = 0; i < m->n; i++)
        m->table[slot_of(m, m->pairs[i].key, m->pairs[i].hash)] = (uint32_t)i + 1;
    return true;
}

uint64_t *qp_map_put(qp_map *m, qp_str key, bool *added)
{
    if (m->n == m->cap && !grow(m))
        return NULL;
    uint64_t hash = qp_hash64(key);
    size_t at = slot_of(m, key, hash);
    if (added)
        *added = !m->table[at];
    if (m->table[at])
        return &m->pairs[m->table[at] - 1].value;
    qp_str copy = qp_arena_str(m->keys, key);
    if (!copy.at)
        return NULL;
    m->pairs[m->n] = (pair){copy, 0, hash};
    m->table[at] = (uint32_t)++m->n;
    return &m->pairs[m->n - 1].value;
}

uint64_t *qp_map_get(const qp_map *m, qp_str key)
{
    if (!m->n)
        return NULL;
    size_t at = slot_of(m, key, qp_hash64(key));
    return m->table[at] ? &m->pairs[m->table[at] - 1].value : NULL;
}

qp_str qp_map_key(const qp_map *m, size_t i)
{
    return m->pairs[i].key;
}

uint64_t qp_map_value(const qp_map *m, size_t i)
{
    return m->pairs[i].value;
}
