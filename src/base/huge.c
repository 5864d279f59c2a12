#include "base/huge.h"

#include <stdint.h>
#include <sys/mman.h>

void *qp_huge(void *at, size_t bytes)
{
    const uintptr_t page = 2u << 20, from = ((uintptr_t)at + page - 1) & ~(page - 1), to = (uintptr_t)at + bytes;
    if (at && from + page <= to)
        madvise((void *)from, (to - from) & ~(page - 1), MADV_HUGEPAGE);
    return at;
}
