#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { ALIGN = 16, FIRST = 64 << 10, LARGEST = 8 << 20 };

typedef struct block {
    struct block *next;
    size_t size, used;
    _Alignas(ALIGN) char bytes[];
} block;

struct qp_arena {
    block *blocks; /* the one in use first */
};

static block *block_new(size_t size)
{
    block *b = size <= SIZE_MAX - sizeof(block) ? malloc(sizeof(block) + size) : NULL;
    if (b)
        *b = (block){.size = size};
    return b;
}

qp_arena *qp_arena_new(void)
{
    return calloc(1, sizeof(qp_arena));
}

void qp_arena_reset(qp_arena *a)
{
    block *keep = a->blocks;
    if (!keep)
        return;
    for (block *b = keep->next, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    keep->next = NULL;
    keep->used = 0;
}

void qp_arena_free(qp_arena *a)
{
    if (!a)
        return;
    qp_arena_reset(a);
    free(a->blocks);
    free(a);
}

/* The block in use, with room for n bytes; each new one is twice the last, so a long life costs few of them. */
static block *block_with(qp_arena *a, size_t n)
{
    block *b = a->blocks;
    if (b && b->size - b->used >= n)
        return b;
    size_t size = b ? b->size * 2 : FIRST;
    if (size > LARGEST)
        size = LARGEST;
    if (size < n)
        size = n;
    block *fresh = block_new(size);
    if (!fresh)
        return NULL;
    fresh->next = a->blocks;
    a->blocks = fresh;
    return fresh;
}

void *qp_arena_alloc(qp_arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX - ALIGN)
        return NULL;
    size_t n = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (!n)
        n = ALIGN; /* an empty array is not null: null means no memory */
    block *b = block_with(a, n);
    if (!b)
        return NULL;
    void *at = b->bytes + b->used;
    b->used += n;
    memset(at, 0, n);
    return at;
}

void *qp_arena_array(qp_arena *a, size_t n, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(n, size, &bytes) ? NULL : qp_arena_alloc(a, bytes);
}

qp_str qp_arena_str(qp_arena *a, qp_str s)
{
    char *copy = s.n < SIZE_MAX ? qp_arena_alloc(a, s.n + 1) : NULL;
    if (!copy)
        return (qp_str){0};
    if (s.n)
        memcpy(copy, s.at, s.n);
    return (qp_str){copy, s.n};
}

char *qp_arena_cstr(qp_arena *a, const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = qp_arena_alloc(a, n);
    return copy ? memcpy(copy, text, n) : NULL;
}

qp_str qp_arena_fmt(qp_arena *a, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *text = n < 0 ? NULL : qp_arena_alloc(a, (size_t)n + 1);
    if (text)
        vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
    return text ? (qp_str){text, (size_t)n} : (qp_str){0};
}
