/* Numbers of a stored reference value, whatever lists they stand in. */
#ifndef UNIT_FLOATS_H
#define UNIT_FLOATS_H

#include <yyjson.h>

/* In the order they are written; returns how many. */
static inline size_t read_floats(yyjson_val *from, float *to)
{
    size_t i, n, all = 0;
    yyjson_val *item;
    if (!yyjson_is_arr(from)) {
        *to = (float)yyjson_get_num(from);
        return 1;
    }
    yyjson_arr_foreach(from, i, n, item)
        all += read_floats(item, to + all);
    return all;
}

#endif
