#include "graph/rank.h"

#include <math.h>

/* Twice the room, so that a cut, which costs as many steps as there are items, comes once for every k added. */
qp_code qp_rank_init(qp_rank *rank, uint32_t k, qp_arena *mem, qp_err *err)
{
    enum { LEAST = 64 };
    uint64_t room = 2 * (uint64_t)k + LEAST;
    *rank = (qp_rank){.at = qp_new(mem, qp_scored, room),
                      .room = room,
                      .k = k,
                      .below = UINT32_MAX,
                      .least = {-INFINITY, UINT32_MAX}};
    return rank->at ? QP_OK : qp_oom(err);
}

static inline void swap(qp_scored *a, qp_scored *b)
{
    qp_scored c = *a;
    *a = *b;
    *b = c;
}

static void sort_few(qp_scored *at, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++)
        for (uint64_t j = i; j > 0 && qp_scored_before(at[j], at[j - 1]); j--)
            swap(&at[j], &at[j - 1]);
}

/* Hoare's partition round the median of three: 0 .. the result are not after those behind it. */
static uint64_t divide(qp_scored *at, uint64_t n)
{
    qp_scored a = at[0], b = at[n / 2], c = at[n - 1];
    bool ab = qp_scored_before(a, b), bc = qp_scored_before(b, c), ac = qp_scored_before(a, c);
    qp_scored middle = ab == bc ? b : ab == ac ? c : a;
    for (uint64_t i = 0, j = n - 1;; i++, j--) {
        while (qp_scored_before(at[i], middle))
            i++;
        while (qp_scored_before(middle, at[j]))
            j--;
        if (i >= j)
            return j;
        swap(&at[i], &at[j]);
    }
}

/* Quicksort that leaves alone what lies behind the first k; with `whole` false it only brings the first k there. */
static void sort_first(qp_scored *at, uint64_t n, uint64_t k, bool whole)
{
    enum { FEW = 16 };
    while (n > FEW) {
        uint64_t left = divide(at, n) + 1;
        if (k > left) {
            if (whole)
                sort_first(at, left, left, true);
            at += left;
            n -= left;
            k -= left;
        } else {
            n = left;
        }
    }
    sort_few(at, n);
}

void qp_rank_cut(qp_rank *rank)
{
    if (rank->n <= rank->k)
        return;
    sort_first(rank->at, rank->n, rank->k, false);
    rank->n = rank->k;
    if (!rank->k)
        return;
    rank->least = rank->at[0];
    for (uint64_t i = 1; i < rank->n; i++)
        if (qp_scored_before(rank->least, rank->at[i]))
            rank->least = rank->at[i];
}

void qp_rank_sort(qp_rank *rank)
{
    qp_rank_cut(rank);
    sort_first(rank->at, rank->n, rank->n, true);
}
