/* Lists of hits: copied, sorted. */
#include <math.h>

#include "op/op.h"

/* Sorting happens on 64-bit keys: score (best first, NaN last) above id, so that one comparison of whole numbers
 * decides, ties included. */
typedef struct entry {
    uint64_t key;
    uint32_t at;
} entry;

static uint64_t key_of(const qp_hit *h)
{
    if (isnan(h->score))
        return (uint64_t)UINT32_MAX << 32 | h->id;
    float s = h->score + 0.0f; /* -0 to +0: they are equal */
    uint32_t bits;
    memcpy(&bits, &s, sizeof bits);
    uint32_t rising = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (uint64_t)~rising << 32 | h->id;
}

/* Bottom-up merge sort: stable, and without a call for each comparison. Returns where the sorted entries are. */
static entry *merge_sort(entry *a, entry *spare, uint32_t n)
{
    for (uint64_t width = 1; width < n; width *= 2) {
        for (uint64_t from = 0; from < n; from += 2 * width) {
            uint64_t middle = from + width < n ? from + width : n, to = from + 2 * width < n ? from + 2 * width : n;
            uint64_t i = from, j = middle;
            for (uint64_t k = from; k < to; k++)
                spare[k] = j >= to || (i < middle && a[i].key <= a[j].key) ? a[i++] : a[j++];
        }
        entry *swap = a;
        a = spare;
        spare = swap;
    }
    return a;
}

qp_list qp_list_sorted(qp_query *q, const qp_hit *hits, uint32_t n, uint32_t k)
{
    qp_list none = {0};
    if (q->err.code != QP_OK || !n)
        return none;
    if (k > n)
        k = n;
    entry *a = qp_new(q->mem, entry, n), *spare = qp_new(q->mem, entry, n);
    qp_hit *out = qp_new(q->mem, qp_hit, k);
    if (!a || !spare || !out) {
        qp_oom(&q->err);
        return none;
    }
    for (uint32_t i = 0; i < n; i++)
        a[i] = (entry){key_of(&hits[i]), i};
    a = merge_sort(a, spare, n);
    for (uint32_t i = 0; i < k; i++)
        out[i] = hits[a[i].at];
    return (qp_list){out, k};
}

qp_hit *qp_list_copy(qp_query *q, qp_list list)
{
    qp_hit *out = q->err.code == QP_OK ? qp_new(q->mem, qp_hit, list.n) : NULL;
    if (!out)
        qp_oom(&q->err);
    else if (list.n)
        memcpy(out, list.at, list.n * sizeof *out);
    return out;
}

qp_list qp_list_scored(qp_query *q, qp_list list, const float *score)
{
    qp_hit *hits = qp_list_copy(q, list);
    for (uint32_t i = 0; hits && score && i < list.n; i++)
        hits[i].score = score[i];
    return qp_list_sorted(q, hits, list.n, list.n);
}

const qp_id *qp_list_ids(qp_query *q, qp_list list)
{
    qp_id *out = q->err.code == QP_OK ? qp_new(q->mem, qp_id, list.n) : NULL;
    if (!out)
        qp_oom(&q->err);
    for (uint32_t i = 0; out && i < list.n; i++)
        out[i] = list.at[i].id;
    return out;
}

const qp_link *qp_list_links(qp_query *q, qp_list edges)
{
    const qp_id *ids = qp_list_ids(q, edges);
    qp_link *links = ids ? qp_new(q->mem, qp_link, edges.n + 1u) : NULL;
    if (!links)
        return qp_oom(&q->err), NULL;
    return q->graph->link(q->graph->self, ids, edges.n, links, &q->err) ? NULL : links;
}

uint32_t qp_path_chain(qp_query *q, const qp_hit *last, const qp_hit ***out)
{
    uint32_t length = 0;
    for (const qp_hit *h = last; h; h = h->from)
        length++;
    *out = q->err.code == QP_OK ? qp_new(q->mem, const qp_hit *, length) : NULL;
    if (!*out) {
        qp_oom(&q->err);
        return 0;
    }
    uint32_t at = length;
    for (const qp_hit *h = last; h; h = h->from)
        (*out)[--at] = h;
    return length;
}
