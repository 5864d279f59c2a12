/* Numbers in order: what qsort and bsearch compare them by, and where one stands. Any thread. */
#ifndef QP_BASE_SORTED_H
#define QP_BASE_SORTED_H

#include <stdint.h>

/* For qsort and bsearch, the smallest first. */
static inline int qp_by_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static inline int qp_by_double(const void *a, const void *b) /* no NaN */
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The first place in at[from, to), which rises, that is not below x; `to` if there is none. */
static inline uint64_t qp_lower_bound(const uint32_t *at, uint64_t from, uint64_t to, uint32_t x)
{
    while (from < to) {
        uint64_t middle = from + (to - from) / 2;
        if (at[middle] < x)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* The same, faster where that place is near `from`: strides that double find what is then halved (Bentley and Yao's
 * unbounded search). */
static inline uint64_t qp_lower_bound_near(const uint32_t *at, uint64_t from, uint64_t to, uint32_t x)
{
    uint64_t end = from;
    for (uint64_t step = 1; end < to && at[end] < x; step *= 2) {
        from = end + 1;
        end = to - end > step ? end + step : to;
    }
    return qp_lower_bound(at, from, end, x);
}

#endif
