#include "base/shelf.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct place {
    const qp_shelf_kind *kind;
    char key[QP_SHELF_KEY];
    size_t n;
    void *thing;
};

struct qp_shelf {
    pthread_mutex_t lock;
    struct place at[QP_SHELF_PLACES];
    int n;
};

qp_shelf *qp_shelf_new(void)
{
    qp_shelf *s = calloc(1, sizeof *s);
    if (s)
        pthread_mutex_init(&s->lock, NULL);
    return s;
}

void qp_shelf_free(qp_shelf *s)
{
    for (int i = 0; s && i < s->n; i++)
        s->at[i].kind->drop(s->at[i].thing);
    if (s)
        pthread_mutex_destroy(&s->lock);
    free(s);
}

static struct place *find(qp_shelf *s, const qp_shelf_kind *kind, const void *key, size_t n)
{
    for (int i = 0; i < s->n; i++)
        if (s->at[i].kind == kind && s->at[i].n == n && !memcmp(s->at[i].key, key, n))
            return &s->at[i];
    return NULL;
}

qp_code qp_shelf_get(qp_shelf *s, const qp_shelf_kind *kind, const void *key, size_t n, void *ctx, void **thing,
                     bool *kept, qp_err *err)
{
    *thing = NULL;
    *kept = false;
    if (!s)
        return kind->make(ctx, thing, err);
    pthread_mutex_lock(&s->lock);
    struct place *at = find(s, kind, key, n);
    qp_code code = at ? QP_OK : kind->make(ctx, thing, err);
    if (!at && !code && s->n < QP_SHELF_PLACES && n <= QP_SHELF_KEY) {
        at = &s->at[s->n++];
        *at = (struct place){.kind = kind, .n = n, .thing = *thing};
        memcpy(at->key, key, n);
    }
    if (at) {
        *thing = at->thing;
        *kept = true;
    }
    pthread_mutex_unlock(&s->lock);
    return code;
}
