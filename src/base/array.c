#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>

enum { FIRST = 64 };

void *qp_array_room(void *at, size_t n, size_t *cap, size_t item_size)
{
    if (n < *cap)
        return at;
    size_t wanted = *cap ? 2 * *cap : FIRST;
    void *grown = wanted <= SIZE_MAX / item_size ? realloc(at, wanted * item_size) : NULL;
    if (grown)
        *cap = wanted;
    return grown;
}
