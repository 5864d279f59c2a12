/* A hash map from 64-bit keys, which are hashes already, to 32-bit values. One writer, or many readers. */
#ifndef QP_BASE_TABLE_H
#define QP_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct qp_table { /* all zero: empty */
    uint64_t *key;        /* 0: free; the key 0 is kept as 1 */
    uint32_t *value;
    size_t n, slots; /* slots: 0 or a power of two, at least twice n */
} qp_table;

/* The value of key, made as `fresh` if new (*added tells, may be null); null without memory. It moves when the table
 * grows. */
uint32_t *qp_table_put(qp_table *, uint64_t key, uint32_t fresh, bool *added);
/* The value of key, or null. */
uint32_t *qp_table_get(const qp_table *, uint64_t key);
void qp_table_free(qp_table *); /* empty again */

#endif
