/* An external sort of byte records: they are added in any order and number, and come back in byte order.
 *
 * A record is up to 2^31 bytes, compared as qp_str_cmp does (an order of another kind is a key written in front of the
 * record: numbers with their highest byte first, strings ended by a byte smaller than all of theirs). What does not fit
 * the budget lies as sorted runs in one temporary file without a name, which goes away with the sorter, also when the
 * process is killed. One thread.
 */
#ifndef QP_BASE_SORTER_H
#define QP_BASE_SORTER_H

#include "base/err.h"
#include "base/str.h"

typedef struct qp_sorter qp_sorter;

/* `folder`: where runs are spilled; it is only written to when that happens. `budget`: bytes of memory while adding and
 * while reading, more only by one record of each run where these are longer than the budget divided by the runs. */
qp_code qp_sorter_open(const char *folder, size_t budget, qp_sorter **, qp_err *);
void qp_sorter_close(qp_sorter *); /* takes null */

/* Copies the record. QP_STORE: the folder cannot be written to, or its disk is full. */
qp_code qp_sorter_add(qp_sorter *, qp_str record, qp_err *);
/* Ends adding; reading begins at the first record. Called again, it begins there again. */
qp_code qp_sorter_sort(qp_sorter *, qp_err *);
/* The next record, valid until the next call; at null: no more. */
qp_code qp_sorter_next(qp_sorter *, qp_str *record, qp_err *);

uint64_t qp_sorter_spilled(const qp_sorter *); /* bytes written to the temporary file */

/* Keys: a number's bytes, the highest first, so that byte order is its order. */
static inline void qp_key_put32(char out[4], uint32_t x)
{
    x = __builtin_bswap32(x); /* of a little-endian machine, the only kind there is a snapshot for */
    memcpy(out, &x, 4);
}
static inline uint32_t qp_key_get32(const char *at)
{
    uint32_t x;
    memcpy(&x, at, 4);
    return __builtin_bswap32(x);
}

#endif
