/* Arrays that grow one item at a time. */
#ifndef QP_BASE_ARRAY_H
#define QP_BASE_ARRAY_H

#include <stddef.h>

/* Room for one more item in an array from malloc (null at first) that holds n and has room for *cap: the array, moved
 * if it was full, *cap then twice as large. Null without memory; the array is as it was, and still the caller's.
 * One thread. */
void *qp_array_room(void *at, size_t n, size_t *cap, size_t item_size);

#endif
