/* A hash map from byte strings to 64-bit values. One writer, or many readers. Keys are copied. Iteration order is
 * insertion order, so that nothing ever depends on the hash.
 */
#ifndef QP_BASE_MAP_H
#define QP_BASE_MAP_H

#include "base/str.h"

typedef struct qp_map qp_map;

qp_map *qp_map_new(void); /* null without memory */
void qp_map_free(qp_map *);
size_t qp_map_size(const qp_map *);
/* The slot of key, made with value 0 if new (*added tells, may be null); null without memory. It moves when the map
 * grows: use it before the next qp_map_put. */
uint64_t *qp_map_put(qp_map *, qp_str key, bool *added);
/* The slot of key, or null. */
uint64_t *qp_map_get(const qp_map *, qp_str key);
/* The i-th pair in insertion order, i < size; the key lives as long as the map. */
qp_str qp_map_key(const qp_map *, size_t i);
uint64_t qp_map_value(const qp_map *, size_t i);

#endif
