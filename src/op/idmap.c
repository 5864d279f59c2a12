#include "op/idmap.h"

qp_idmap qp_idmap_in(qp_arena *mem)
{
    return (qp_idmap){.mem = mem};
}

/* Where id is, or the free slot where it would go. The multiplier is 2^32 / golden ratio: neighbouring ids, the common
 * case, land far apart. */
static uint32_t slot_of(const qp_idmap *m, qp_id id)
{
    uint32_t at = (uint32_t)((uint64_t)id * 2654435769u >> 7) & (m->slots - 1);
    while (m->key[at] != id && m->key[at] != QP_NO_ID)
        at = (at + 1) & (m->slots - 1);
    return at;
}

static bool grow(qp_idmap *m)
{
    qp_idmap old = *m;
    m->slots = old.slots ? old.slots * 2 : 64;
    m->key = qp_new(m->mem, qp_id, m->slots);
    m->value = qp_new(m->mem, uint32_t, m->slots);
    if (old.slots > UINT32_MAX / 4 || !m->key || !m->value) {
        *m = old;
        return false;
    }
    memset(m->key, 0xff, m->slots * sizeof *m->key);
    for (uint32_t i = 0; i < old.slots; i++) {
        if (old.key[i] == QP_NO_ID)
            continue;
        uint32_t at = slot_of(m, old.key[i]);
        m->key[at] = old.key[i];
        m->value[at] = old.value[i];
    }
    return true;
}

uint32_t *qp_idmap_put(qp_idmap *m, qp_id id, uint32_t fresh, bool *added)
{
    if (m->n * 2 >= m->slots && !grow(m))
        return NULL;
    uint32_t at = slot_of(m, id);
    bool is_new = m->key[at] == QP_NO_ID;
    if (is_new) {
        m->key[at] = id;
        m->value[at] = fresh;
        m->n++;
    }
    if (added)
        *added = is_new;
    return &m->value[at];
}

uint32_t *qp_idmap_get(const qp_idmap *m, qp_id id)
{
    if (!m->n)
        return NULL;
    uint32_t at = slot_of(m, id);
    return m->key[at] == id ? &m->value[at] : NULL;
}
